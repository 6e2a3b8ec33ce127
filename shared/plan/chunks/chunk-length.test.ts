import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseChunkLength } from "./chunk-length.ts";

const ROWS: [name: string, seconds: number, slots: number, audioSeconds: number, expected: number][] = [
  ["one for each slot", 180, 6, 0, 30],
  ["one for each slot next to very short audio", 180, 6, 0.5, 30],
  ["a shorter last one for the slot that encodes the audio", 180, 6, 16, 32],
  ["no longer than audio that may take less than estimated", 300, 12, 87, 40],
  ["short ones if one for each would be too long", 300, 3, 0, 26],
  ["one for each of two slots", 100, 2, 0, 50],
  ["no shorter than the minimum for many slots", 180, 50, 0, 24],
  ["long ones if each slot gets many chunks anyway", 7200, 6, 0, 60],
];

test.each(ROWS)("chunks are %s: %i s over %i slots next to %d s of audio", (_, seconds, slots, audio, expected) => {
  const limits = { leastMs: 24_000, mostMs: 60_000, segmentMs: 2000 };
  const options = { ...limits, lengthMs: 1000 * seconds, slots, audioMs: 1000 * audio };
  expect(chooseChunkLength(options)).toBe(1000 * expected);
});

test.each([
  ["half as long", 120, 2, 26],
  ["as long, where shorter ones would take longer", 180, 6, 30],
  ["the shortest, of a long video", 7200, 6, 24],
])("chunks of a stream that is played early are %s: %i s over %i slots", (_, seconds, slots, expected) => {
  const limits = { leastMs: 24_000, mostMs: 60_000, segmentMs: 2000, audioMs: 0 };
  const options = { ...limits, lengthMs: 1000 * seconds, slots, isPlayedEarly: true };
  expect(chooseChunkLength(options)).toBe(1000 * expected);
});

test("chunks are multiples of segments, even if no multiple is within the limits", () => {
  const options = { lengthMs: 500_000, leastMs: 24_000, mostMs: 60_000, slots: 3, audioMs: 0 };
  expect(
    [7000, 35_000, 50_000, 59_000].map((segmentMs) => chooseChunkLength({ ...options, segmentMs }) % segmentMs),
  ).toEqual([0, 0, 0, 0]);
  expect(chooseChunkLength({ ...options, leastMs: 52_000, segmentMs: 50_000 })).toBe(50_000);
});

test("limits the work for any video, fleet and limits", () => {
  const number = fc.double({ min: 1, max: 1e18, noNaN: true });
  const anyOptions = fc.record({
    lengthMs: number,
    leastMs: number,
    mostMs: number,
    segmentMs: number,
    audioMs: number,
    slots: fc.integer({ min: 1, max: 2 ** 31 }),
  });
  fc.assert(
    fc.property(anyOptions, (options) => {
      expect(chooseChunkLength(options)).toBeGreaterThan(0);
    }),
    { examples: [[{ lengthMs: 9e12, leastMs: 24_000, mostMs: 60_000, segmentMs: 2000, audioMs: 0, slots: 8 }]] },
  );
});
