// The bar that an arrow key selects. Pure.
import type { PlacedBar, TimelineLayout } from "./layout.ts";

/**
 * The key of the next bar: left or right on the same lane, the nearest bar above or below, or the first or last bar.
 * null: there is none. Without a present bar (null), the first bar.
 */
export function nextBar({ placed }: TimelineLayout, present: string | null, key: string): string | null {
  const ordered = [...placed].sort((a, b) => a.bar.fromMs - b.bar.fromMs);
  const current = placed.find(({ bar }) => bar.key === present);
  if (!current || key === "Home") return ordered[0]?.bar.key ?? null;
  if (key === "End") return ordered.at(-1)?.bar.key ?? null;
  const next =
    key === "ArrowLeft" || key === "ArrowRight"
      ? onLane(ordered, current, key === "ArrowRight" ? 1 : -1)
      : onOtherLane(ordered, current, key === "ArrowDown" ? 1 : -1);
  return next?.bar.key ?? null;
}

function onLane(ordered: readonly PlacedBar[], current: PlacedBar, step: number): PlacedBar | undefined {
  const sameLane = ordered.filter(({ lane }) => lane === current.lane);
  return sameLane[sameLane.indexOf(current) + step];
}

/** The bar of the next lane with the nearest start. */
function onOtherLane(ordered: readonly PlacedBar[], current: PlacedBar, step: number): PlacedBar | undefined {
  const others = ordered.filter(({ lane }) => lane === current.lane + step);
  const distance = ({ bar }: PlacedBar): number => Math.abs(bar.fromMs - current.bar.fromMs);
  return others.reduce<PlacedBar | undefined>((a, b) => (a && distance(a) <= distance(b) ? a : b), undefined);
}
