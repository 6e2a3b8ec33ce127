// Sizes and positions of the timeline's rows, in pixels. Pure.
import type { TimelineLayout } from "../layout.ts";

export type Geometry = {
  readonly width: number;
  /** Width of the names of nodes beside their lanes; 0: the names are above the lanes. */
  readonly names: number;
  readonly laneHeight: number;
  /** Tops of lanes, by their number. */
  readonly tops: readonly number[];
  /** Top and height of each node, with its name. */
  readonly nodes: readonly { readonly top: number; readonly height: number }[];
  readonly height: number;
};

/** Narrower timelines have the names of nodes above the lanes. */
const NARROW = 560;
const NAMES = 128;
const NAME_HEIGHT = 18;
const GAP = 7;
/** Heights of lanes by the highest number of lanes. */
const HEIGHTS: readonly (readonly [lanes: number, height: number])[] = [
  [8, 26],
  [24, 22],
  [48, 18],
  [Number.POSITIVE_INFINITY, 14],
];

export function geometryOf({ nodes, lanes }: TimelineLayout, width: number): Geometry {
  const names = width < NARROW ? 0 : NAMES;
  const laneHeight = HEIGHTS.find(([most]) => lanes <= most)?.[1] ?? 14;
  const tops: number[] = [];
  const placed: { top: number; height: number }[] = [];
  let top = GAP;
  for (const node of nodes) {
    const first = top + (names === 0 ? NAME_HEIGHT : 0);
    for (let at = 0; at < node.lanes; at++) tops.push(first + at * laneHeight);
    const bottom = first + node.lanes * laneHeight;
    placed.push({ top, height: bottom - top });
    top = bottom + GAP;
  }
  return { width, names, laneHeight, tops, nodes: placed, height: top };
}

/** A rectangle with different radii for the left and the right corners. */
export function roundedPath(x: number, y: number, width: number, height: number, left: number, right: number): string {
  const [l, r] = [left, right].map((radius) => Math.max(0, Math.min(radius, width / 2, height / 2)));
  const n = (value: number): string => value.toFixed(2);
  const [a = 0, b = 0] = [l, r];
  return (
    `M${n(x + a)} ${n(y)}H${n(x + width - b)}q${n(b)} 0 ${n(b)} ${n(b)}V${n(y + height - b)}q0 ${n(b)} ${n(-b)} ${n(b)}` +
    `H${n(x + a)}q${n(-a)} 0 ${n(-a)} ${n(-a)}V${n(y + a)}q0 ${n(-a)} ${n(a)} ${n(-a)}Z`
  );
}
