// The video. In a comparison, two videos lie on top of each other: a divider separates the visible left and right
// parts.
import { type Signal, useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Player } from "./player.ts";
import type { SideBySide } from "./side-by-side.ts";

/** Pixels that a pointer may move during a click. */
const CLICK = 4;

/** `divider`: percent from the left. */
export function Screen({ players, divider }: { readonly players: SideBySide; readonly divider: Signal<number> }) {
  const screen = useRef<HTMLDivElement>(null);
  const { first, last } = sides(players);
  const isSplit = useComputed(() => players.follower !== null && players.front.value === "both");
  useSignalEffect(() => {
    const { scale, x, y } = players.view.value;
    const position = { both: divider.value, first: 100, last: 0 }[players.front.value];
    const properties = { zoom: String(scale), x: `${x * 100}%`, y: `${y * 100}%`, divider: `${first ? position : 0}%` };
    for (const [name, value] of Object.entries(properties)) screen.current?.style.setProperty(`--${name}`, value);
    screen.current?.classList.toggle("pixels", scale >= 4);
  });
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button === 0 && screen.current) drag(event, screen.current, players, divider);
  };
  return (
    <div ref={screen} class="screen" onPointerDown={onPointerDown}>
      {first && <Pane player={first} side="first" />}
      <Pane player={last} side="last" />
      {isSplit.value && <div class="divider" aria-hidden="true" />}
      <Labels players={players} />
      <Waiting players={players} />
    </div>
  );
}

const sides = ({ leader, follower }: SideBySide): { first: Player | null; last: Player } => ({
  first: follower,
  last: leader,
});

function Pane({ player, side }: { readonly player: Player; readonly side: "first" | "last" }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    host.current?.append(player.video);
  }, []);
  useSignalEffect(() => {
    const { value } = player.frame;
    if (value !== null && host.current) host.current.dataset.frame = value.toFixed(6);
  });
  return <div ref={host} class={`pane ${side}`} />;
}

function Labels({ players: { leader, follower, front } }: { readonly players: SideBySide }) {
  const size = leader.size.value;
  const isAudio = size !== null && size.width === 0;
  if (!follower) return isAudio ? <p class="audio">{leader.medium.label}</p> : null;
  return (
    <>
      {front.value !== "last" && (
        <span class="label first">
          <b>A</b> {follower.medium.label}
        </span>
      )}
      {front.value !== "first" && (
        <span class="label last">
          <b>B</b> {leader.medium.label}
        </span>
      )}
    </>
  );
}

/** A notice while the video waits for long. */
function Waiting({ players: { all, leader, wantsToPlay } }: { readonly players: SideBySide }) {
  const waits = all.some(({ isWaiting, failed }) => isWaiting.value && !failed.value);
  if (all.some(({ failed }) => failed.value)) return <p class="notice">This browser cannot play this file.</p>;
  if (!waits || !wantsToPlay.value) return null;
  const isStream = leader.medium.kind !== "file";
  const isAtEnd = isStream && leader.length.value > 0 && leader.length.value - leader.time.value < 1;
  return <p class="notice late">{isAtEnd ? "Waiting for the encoder …" : "Loading …"}</p>;
}

/** Moves the divider or an enlarged view. A click plays or pauses. */
function drag(event: PointerEvent, screen: HTMLElement, players: SideBySide, divider: Signal<number>): void {
  const { left, width, height } = screen.getBoundingClientRect();
  const isOnDivider = Math.abs(event.clientX - left - (divider.value / 100) * width) < 24;
  const movesDivider = players.follower !== null && (isOnDivider || players.view.value.scale === 1);
  let last = event;
  let isClick = true;
  const onMove = (next: PointerEvent): void => {
    if (Math.abs(next.clientX - event.clientX) + Math.abs(next.clientY - event.clientY) > CLICK) isClick = false;
    if (isClick) return;
    if (movesDivider) {
      players.front.value = "both";
      divider.value = Math.min(100, Math.max(0, ((next.clientX - left) / width) * 100));
    } else players.move((next.clientX - last.clientX) / width, (next.clientY - last.clientY) / height);
    last = next;
  };
  const onUp = (): void => {
    screen.removeEventListener("pointermove", onMove);
    if (isClick) players.toggle();
  };
  screen.setPointerCapture(event.pointerId);
  screen.addEventListener("pointermove", onMove);
  screen.addEventListener("pointerup", onUp, { once: true });
  screen.addEventListener("pointercancel", () => screen.removeEventListener("pointermove", onMove), { once: true });
}
