// The video. In a comparison, two videos lie on top of each other: a divider separates the visible left and right
// parts.
import { type Signal, useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Deck } from "./player.ts";
import type { Stage } from "./side-by-side.ts";

/** Pixels that a pointer may move during a click. */
const CLICK = 4;

/** `divider`: percent from the left. */
export function Screen({ stage, divider }: { readonly stage: Stage; readonly divider: Signal<number> }) {
  const screen = useRef<HTMLDivElement>(null);
  const { first, last } = sides(stage);
  const isSplit = useComputed(() => stage.follower !== null && stage.front.value === "both");
  useSignalEffect(() => {
    const { scale, x, y } = stage.view.value;
    const position = { both: divider.value, first: 100, last: 0 }[stage.front.value];
    const properties = { zoom: String(scale), x: `${x * 100}%`, y: `${y * 100}%`, divider: `${first ? position : 0}%` };
    for (const [name, value] of Object.entries(properties)) screen.current?.style.setProperty(`--${name}`, value);
    screen.current?.classList.toggle("pixels", scale >= 4);
  });
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button === 0 && screen.current) drag(event, screen.current, stage, divider);
  };
  return (
    <div ref={screen} class="screen" onPointerDown={onPointerDown}>
      {first && <Pane deck={first} side="first" />}
      <Pane deck={last} side="last" />
      {isSplit.value && <div class="divider" aria-hidden="true" />}
      <Labels stage={stage} />
      <Waiting stage={stage} />
    </div>
  );
}

const sides = ({ leader, follower }: Stage): { first: Deck | null; last: Deck } => ({ first: follower, last: leader });

function Pane({ deck, side }: { readonly deck: Deck; readonly side: "first" | "last" }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    host.current?.append(deck.video);
  }, []);
  useSignalEffect(() => {
    const { value } = deck.frame;
    if (value !== null && host.current) host.current.dataset.frame = value.toFixed(6);
  });
  return <div ref={host} class={`pane ${side}`} />;
}

function Labels({ stage: { leader, follower, front } }: { readonly stage: Stage }) {
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
function Waiting({ stage: { decks, leader, wantsToPlay } }: { readonly stage: Stage }) {
  const waits = decks.some(({ isWaiting, failed }) => isWaiting.value && !failed.value);
  if (decks.some(({ failed }) => failed.value)) return <p class="notice">This browser cannot play this file.</p>;
  if (!waits || !wantsToPlay.value) return null;
  const isStream = leader.medium.kind !== "file";
  const isAtEnd = isStream && leader.length.value > 0 && leader.length.value - leader.time.value < 1;
  return <p class="notice late">{isAtEnd ? "Waiting for the encoder …" : "Loading …"}</p>;
}

/** Moves the divider or an enlarged view. A click plays or pauses. */
function drag(event: PointerEvent, screen: HTMLElement, stage: Stage, divider: Signal<number>): void {
  const { left, width, height } = screen.getBoundingClientRect();
  const isOnDivider = Math.abs(event.clientX - left - (divider.value / 100) * width) < 24;
  const movesDivider = stage.follower !== null && (isOnDivider || stage.view.value.scale === 1);
  let last = event;
  let isClick = true;
  const onMove = (next: PointerEvent): void => {
    if (Math.abs(next.clientX - event.clientX) + Math.abs(next.clientY - event.clientY) > CLICK) isClick = false;
    if (isClick) return;
    if (movesDivider) {
      stage.front.value = "both";
      divider.value = Math.min(100, Math.max(0, ((next.clientX - left) / width) * 100));
    } else stage.move((next.clientX - last.clientX) / width, (next.clientY - last.clientY) / height);
    last = next;
  };
  const onUp = (): void => {
    screen.removeEventListener("pointermove", onMove);
    if (isClick) stage.toggle();
  };
  screen.setPointerCapture(event.pointerId);
  screen.addEventListener("pointermove", onMove);
  screen.addEventListener("pointerup", onUp, { once: true });
  screen.addEventListener("pointercancel", () => screen.removeEventListener("pointermove", onMove), { once: true });
}
