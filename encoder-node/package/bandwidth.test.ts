import { expect, test } from "vitest";
import { bandwidthOf } from "./bandwidth.ts";

/** Segments such as `6s 9000`: their seconds and bytes. */
const segmentsOf = (text: string) => [...text.matchAll(/([\d.]+)s (\d+)/g)].map(([, ...pair]) => pair.map(Number));

const LONG_NEIGHBORS = "2.5s 2500, 0.9s 9000, 2.5s 2500, 2.5s 100, 2.5s 100, 2.5s 100, 2.5s 100";

test.each([
  ["one segment", 6, "6s 6000", 8000, 8000],
  ["the largest segment", 6, "6s 6000, 6s 12000, 6s 6000", 16_000, 10_667],
  ["a short one does not count by itself", 6, "6s 6000, 2s 9000", 15_000, 15_000],
  ["a short one counts together with the one before", 6, "6s 3000, 6s 6000, 2s 9000", 15_000, 10_286],
  ["half a target duration counts", 6, "6s 3000, 3s 9000", 24_000, 10_667],
  ["one and a half target durations count, and no more", 2, "1s 1000, 1s 1000, 1s 4000, 1s 100", 32_000, 12_200],
  ["a short one that is too long with any neighbor does not count", 2, LONG_NEIGHBORS, 8000, 7246],
  ["a track shorter than half a target duration", 6, "1s 1000", 8000, 8000],
  ["no segments", 6, "", 1, 1],
])("measures peak and average rates: %s", (_, target, track, peak, average) => {
  let start = 0;
  const spans = segmentsOf(track).map(([seconds = 0, sizeBytes = 0]) => {
    start += seconds * 1000;
    return { start: start - seconds * 1000, duration: seconds * 1000, sizeBytes };
  });
  expect(bandwidthOf(spans, 1000, target)).toEqual({ peak, average });
});
