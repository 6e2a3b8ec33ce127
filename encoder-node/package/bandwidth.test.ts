import { expect, test } from "vitest";
import { bandwidthOf } from "./bandwidth.ts";

/** Seconds and bytes of each segment. */
type Track = readonly (readonly [number, number])[];

test.each<[string, number, Track, { peak: number; average: number }]>([
  ["one segment", 6, [[6, 6000]], { peak: 8000, average: 8000 }],
  [
    "the largest segment",
    6,
    [
      [6, 6000],
      [6, 12_000],
      [6, 6000],
    ],
    { peak: 16_000, average: 10_667 },
  ],
  [
    "a short one does not count by itself",
    6,
    [
      [6, 6000],
      [2, 9000],
    ],
    { peak: 15_000, average: 15_000 },
  ],
  [
    "a short one counts together with the one before",
    6,
    [
      [6, 3000],
      [6, 6000],
      [2, 9000],
    ],
    { peak: 15_000, average: 10_286 },
  ],
  [
    "half a target duration counts",
    6,
    [
      [6, 3000],
      [3, 9000],
    ],
    { peak: 24_000, average: 10_667 },
  ],
  [
    "one and a half target durations count, and no more",
    2,
    [
      [1, 1000],
      [1, 1000],
      [1, 4000],
      [1, 100],
    ],
    { peak: 32_000, average: 12_200 },
  ],
  [
    "a short one that is too long with any neighbor does not count",
    2,
    [
      [2.5, 2500],
      [0.9, 9000],
      [2.5, 2500],
      [2.5, 100],
      [2.5, 100],
      [2.5, 100],
      [2.5, 100],
    ],
    { peak: 8000, average: 7246 },
  ],
  ["a track shorter than half a target duration", 6, [[1, 1000]], { peak: 8000, average: 8000 }],
  ["no segments", 6, [], { peak: 1, average: 1 }],
])("measures peak and average rates: %s", (_, target, track, expected) => {
  let start = 0;
  const spans = track.map(([seconds, sizeBytes]) => {
    start += seconds * 1000;
    return { start: start - seconds * 1000, duration: seconds * 1000, sizeBytes };
  });
  expect(bandwidthOf(spans, 1000, target)).toEqual(expected);
});
