import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseChunkLength } from "./chunk-length.ts";

const ROWS: [name: string, seconds: number, slots: number, soundSeconds: number, expected: number][] = [
  ["one for each slot", 180, 6, 0, 30],
  ["one for each slot beside next to no sound", 180, 6, 0.5, 30],
  ["a shorter last one for the slot that has the sound", 180, 6, 16, 32],
  ["short ones where one for each would be too long", 300, 3, 0, 26],
  ["one for each of two slots", 100, 2, 0, 50],
  ["no shorter than the least for many slots", 180, 50, 0, 24],
  ["long ones where there are many rounds anyway", 7200, 6, 0, 60],
];

test.each(ROWS)("chunks are %s: %i s over %i slots beside %d s of sound", (_, seconds, slots, sound, expected) => {
  const bounds = { leastMs: 24_000, mostMs: 60_000, segmentMs: 2000 };
  const wish = { ...bounds, lengthMs: 1000 * seconds, slots, audioMs: 1000 * sound };
  expect(chooseChunkLength(wish)).toBe(1000 * expected);
});

test("chunks are multiples of segments, also where none lies within the bounds", () => {
  const wish = { lengthMs: 500_000, leastMs: 24_000, mostMs: 60_000, slots: 3, audioMs: 0 };
  expect(
    [7000, 35_000, 50_000, 59_000].map((segmentMs) => chooseChunkLength({ ...wish, segmentMs }) % segmentMs),
  ).toEqual([0, 0, 0, 0]);
  expect(chooseChunkLength({ ...wish, leastMs: 52_000, segmentMs: 50_000 })).toBe(50_000);
});

test("the work is bounded, whatever the video, the fleet and the bounds are", () => {
  const number = fc.double({ min: 1, max: 1e18, noNaN: true });
  const wishes = fc.record({
    ...{ lengthMs: number, leastMs: number, mostMs: number, segmentMs: number, audioMs: number },
    slots: fc.integer({ min: 1, max: 2 ** 31 }),
  });
  fc.assert(
    fc.property(wishes, (wish) => {
      expect(chooseChunkLength(wish)).toBeGreaterThan(0);
    }),
    { examples: [[{ lengthMs: 9e12, leastMs: 24_000, mostMs: 60_000, segmentMs: 2000, audioMs: 0, slots: 8 }]] },
  );
});
