import { expect, it, test } from "vitest";
import {
  type FrameIndex,
  longestGopMs,
  PackedSplitPoints,
  packSplitPoints,
  possibleSplitPoints,
  unpackSplitPoints,
} from "./frame-index.ts";

/** Creates a frame index with these ticks, 1000 bytes per frame and a keyframe at a fixed interval. */
function frameIndex(ticks: readonly number[], den: number, gop: number, num = 1): FrameIndex {
  return {
    timeBase: { num, den },
    ticks: Float64Array.from(ticks),
    endTicks: (ticks.at(-1) ?? 0) + (ticks[1] ?? 0) - (ticks[0] ?? 0),
    bytes: Uint32Array.from(ticks, () => 1000),
    keyframes: Uint32Array.from(ticks.keys()).filter((index) => index % gop === 0),
    startUs: 0,
  };
}
const evenly = (count: number, step: number, from = 0): number[] =>
  Array.from({ length: count }, (_, at) => from + at * step);

it("places split points midway before the first frame of each interval", () => {
  expect(possibleSplitPoints(frameIndex(evenly(150, 1001), 30_000, 48), 2000)).toEqual([
    { index: 60, splitUs: 1_985_317, frameUs: 2_002_000, keyframe: 48, bytes: 60_000 },
    { index: 120, splitUs: 3_987_317, frameUs: 4_004_000, keyframe: 96, bytes: 120_000 },
  ]);
});

test.each<[string, FrameIndex, number[]]>([
  ["counted from the first frame", frameIndex(evenly(100, 40, 700), 1000, 25), [50]],
  ["whose times are rounded to ms", frameIndex(evenly(200, 1001 / 30).map(Math.floor), 1000, 25), [60, 120, 180]],
  ["with a gap over several intervals", frameIndex([...evenly(30, 40), ...evenly(30, 40, 9000)], 1000, 25), [30, 55]],
  ["too close to be separated", frameIndex([0, 2_000_000, 4_000_000, 4_000_010, 4_000_100], 1_000_000, 1), [1, 2]],
  ["exactly at the start of an interval", frameIndex([0, 1_999_995, 2_000_005, 2_500_000], 1e6, 1), [1]],
])("split points of frames %s", (_, frames, indices) => {
  expect(possibleSplitPoints(frames, 2000).map(({ index }) => index)).toEqual(indices);
});

it("packs a split point into about 30 bytes for any length", () => {
  // Two hours at 60 frames a second, 16 Mbit/s.
  const long = frameIndex(evenly(432_000, 1001), 60_000, 250);
  const points = possibleSplitPoints({ ...long, bytes: long.bytes.map(() => 33_333) }, 2000);
  const packed = packSplitPoints(points);
  expect(points.length).toBe(3603);
  expect(JSON.stringify(packed).length / points.length).toBeLessThan(36);
  expect(unpackSplitPoints(PackedSplitPoints.parse(JSON.parse(JSON.stringify(packed))))).toEqual(points);
});

it("returns the longest time between keyframes, including the end", () => {
  expect(longestGopMs(frameIndex(evenly(100, 40), 1000, 60))).toBe(2400);
  expect(longestGopMs(frameIndex(evenly(100, 40), 1000, 1000))).toBe(4000);
});
