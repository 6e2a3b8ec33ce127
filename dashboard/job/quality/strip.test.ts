import { expect, it } from "vitest";
import { barsOf, levelOf, worstOf } from "./strip.ts";

const seriesOf = (vmaf: (number | null)[], interval_seconds = 1) => ({ vmaf, interval_seconds });

it.each([
  [seriesOf([95, 80.5]), 2, "0-1 95, 1-2 80.5"],
  [seriesOf([95, 70, 90, 92, 60], 2), 3, "0-4 70, 4-8 90, 8-10 60"],
  [seriesOf([null, 91, null, null]), 2, "0-2 91, 2-4 null"],
  [seriesOf([]), 5, ""],
])("keeps the worst value of each bar for %j in %i bars", (series, most, expected) => {
  const bars = barsOf(series, most).map(({ from, to, vmaf }) => `${from}-${to} ${vmaf}`);
  expect(bars.join(", ")).toBe(expected);
});

it("finds the worst bar, and no bar if nothing was measured", () => {
  expect(worstOf(barsOf(seriesOf([95, null, 61, 61, 99])))).toEqual({ from: 2, to: 3, vmaf: 61 });
  expect(worstOf(barsOf(seriesOf([null, null])))).toBeUndefined();
});

it.each([
  [100, "good"],
  [93, "good"],
  [92.9, "fair"],
  [80, "fair"],
  [79.9, "poor"],
  [0, "poor"],
] as const)("rates a VMAF of %d as %s", (vmaf, level) => {
  expect(levelOf(vmaf)).toBe(level);
});
