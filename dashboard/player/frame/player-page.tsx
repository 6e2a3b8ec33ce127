// The page of the player: one or two videos, and the controls.
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Controls } from "./controls.tsx";
import { Screen } from "./screen.tsx";
import type { SideBySide } from "./side-by-side.ts";

type Props = {
  readonly players: SideBySide;
  readonly sized: (size: { readonly width: number; readonly height: number }) => void;
  /** Called with keys that the player does not use. */
  readonly passKey: (key: string) => void;
  /** Gets a function that the caller calls for keys pressed outside of the frame. */
  readonly takeKeys: (press: (key: string) => void) => void;
};

export function PlayerPage({ players, sized, passKey, takeKeys }: Props) {
  const root = useRef<HTMLElement>(null);
  const full = (): void => {
    const done = document.fullscreenElement ? document.exitFullscreen() : root.current?.requestFullscreen();
    done?.catch(() => undefined);
  };
  useEffect(() => {
    takeKeys((key) => actionOf({ key, shiftKey: false }, players, full)?.());
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || belongsTo(event.target, event.key)) return;
      const action = actionOf(event, players, full);
      if (action === null) return document.fullscreenElement ? undefined : passKey(event.key);
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  useSignalEffect(() => {
    const size = players.leader.size.value;
    if (size) sized(size);
  });
  const divider = useSignal(50);
  return (
    <main ref={root} class="player">
      <h1>Player</h1>
      <Screen players={players} divider={divider} />
      <Controls players={players} divider={divider} full={full} />
    </main>
  );
}

/** A skip by keyboard. */
const SKIP_SECONDS = 5;
/** The share of the view by which a key moves the content. */
const MOVE = 0.1;

type Pressed = { readonly key: string; readonly shiftKey: boolean };

/** The action of a key; null if the player does not use the key. `full`: shows the player on the whole screen. */
function actionOf({ key, shiftKey }: Pressed, players: SideBySide, full: () => void): (() => void) | null {
  if (shiftKey && key.startsWith("Arrow")) return moveBy(key, players);
  const actions: Readonly<Record<string, () => void>> = {
    " ": players.toggle,
    k: players.toggle,
    ",": () => players.step(-1),
    ".": () => players.step(1),
    ArrowLeft: () => players.skip(-SKIP_SECONDS),
    ArrowRight: () => players.skip(SKIP_SECONDS),
    "+": () => players.zoom(1),
    "=": () => players.zoom(1),
    "-": () => players.zoom(-1),
    m: () => {
      players.muted.value = !players.muted.value;
    },
    f: full,
    ...(players.follower
      ? { t: players.swap, b: players.showBoth, "[": () => players.shiftBy(-1), "]": () => players.shiftBy(1) }
      : {}),
  };
  return Object.hasOwn(actions, key) ? (actions[key] ?? null) : null;
}

function moveBy(key: string, { move }: SideBySide): (() => void) | null {
  const [x = 0, y = 0] = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key] ?? [];
  return x === 0 && y === 0 ? null : () => move(x * MOVE, y * MOVE);
}

/** True if the focused element uses this key itself. */
function belongsTo(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches("select")) return key !== "Escape";
  if (target.matches("button")) return key === " " || key === "Enter";
  return target.matches("input[type=range]") && /^(Arrow|Home|End|Page)/.test(key);
}
