// The keyboard of the player.
import type { Stage } from "./stage.ts";

const SKIP_SECONDS = 5;
/** By how much of the view a key moves its content. */
const MOVE = 0.1;

export type Pressed = { readonly key: string; readonly shiftKey: boolean };

/** What a key does; null if the player does not know it. `full`: shows the player on the whole screen. */
export function actionOf({ key, shiftKey }: Pressed, stage: Stage, full: () => void): (() => void) | null {
  if (shiftKey && key.startsWith("Arrow")) return moveBy(key, stage);
  const actions: Readonly<Record<string, () => void>> = {
    " ": stage.toggle,
    k: stage.toggle,
    ",": () => stage.step(-1),
    ".": () => stage.step(1),
    ArrowLeft: () => stage.skip(-SKIP_SECONDS),
    ArrowRight: () => stage.skip(SKIP_SECONDS),
    "+": () => stage.zoom(1),
    "=": () => stage.zoom(1),
    "-": () => stage.zoom(-1),
    m: () => {
      stage.muted.value = !stage.muted.value;
    },
    f: full,
    ...(stage.follower
      ? { t: stage.swap, b: stage.showBoth, "[": () => stage.shiftBy(-1), "]": () => stage.shiftBy(1) }
      : {}),
  };
  return Object.hasOwn(actions, key) ? (actions[key] ?? null) : null;
}

function moveBy(key: string, { move }: Stage): (() => void) | null {
  const [x = 0, y = 0] = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key] ?? [];
  return x === 0 && y === 0 ? null : () => move(x * MOVE, y * MOVE);
}

/** Whether the focused element uses this key itself. */
export function belongsTo(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches("select")) return key !== "Escape";
  if (target.matches("button")) return key === " " || key === "Enter";
  return target.matches("input[type=range]") && /^(Arrow|Home|End|Page)/.test(key);
}
