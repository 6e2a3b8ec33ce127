import { describe, expect, test } from "vitest";
import type { Piece } from "../codecs/segment.ts";
import { assembleSegments, gridRule } from "./segment-boundaries.ts";

/** Pieces of 100 bytes that start at these seconds of the output's timeline. The last piece ends at `end`. */
function pieces(starts: readonly number[], end: number): Piece[] {
  const ticks = (seconds: number): number => Math.round((seconds + 10) * 1000);
  return starts.map((start, at) => ({
    start: ticks(start),
    end: ticks(starts[at + 1] ?? end),
    sizeBytes: 100,
    keyframes: [{ offset: 0, sizeBytes: 10, start: ticks(start) }],
  }));
}

const rule = (kind: "video" | "audio", segmentSeconds = 6) => gridRule({ timescale: 1000, segmentSeconds, kind });

/** `start+duration` of each segment, in seconds. */
function segmentsOf(kind: "video" | "audio", starts: readonly number[], end: number, segmentSeconds = 6): string {
  const { segments, waiting } = assembleSegments(pieces(starts, end), rule(kind, segmentSeconds), true);
  expect(waiting).toEqual([]);
  return segments.map(({ segment: { start, duration } }) => `${(start - 10_000) / 1000}+${duration / 1000}`).join(" ");
}

describe("a video segment starts at the first keyframe at or after each grid time", () => {
  test.each([
    ["a keyframe at each grid time", [0, 2, 4, 6, 8, 10, 12], 14, "0+6 6+6 12+2"],
    ["keyframes that miss grid times", [0, 2, 4, 6, 8, 10, 12], 14, "0+6 6+4 10+4", 5],
    ["a keyframe less than half a millisecond early", [0, 5.9996, 8], 10, "0+6 6+4"],
    ["a keyframe that is early by more", [0, 5.999, 8], 10, "0+8 8+2"],
    ["29.97 frames/s", [0, 2.002, 4.004, 6.006, 8.008, 10.01, 12.012], 14.014, "0+6.006 6.006+6.006 12.012+2.002"],
    ["a late start", [3.1, 4, 6, 8], 10, "3.1+2.9 6+4"],
    ["a start just before a grid time", [5.6, 6, 8, 12], 14, "5.6+6.4 12+2"],
    ["a start after a grid time", [7, 8, 12], 14, "7+5 12+2"],
    ["a gap of several segments", [0, 2, 23, 24, 26], 28, "0+23 23+1 24+4"],
    ["a gap that ends just before a grid time", [0, 2, 23.8, 24, 26], 28, "0+23.8 23.8+4.2"],
  ])("assembles video segments with %s", (_, starts, end, segments, segmentSeconds?: number) => {
    expect(segmentsOf("video", starts, end, segmentSeconds)).toBe(segments);
  });
});

test.each([
  ["before the grid time", [-0.021, 0.5, 5.8, 6.3, 11.8, 12.3], 13, "-0.021+5.821 5.8+6 11.8+1.2"],
  ["after the grid time", [-0.021, 0.5, 5.7, 6.2, 11.7, 12.2], 13, "-0.021+6.221 6.2+6 12.2+0.8"],
])("an audio segment starts at the piece nearest to each grid time: %s", (_, starts, end, segments) => {
  expect(segmentsOf("audio", starts, end)).toBe(segments);
});

test.each([
  ["shorter than half a second", 4, [0, 2, 4], 4.4, "0+4.4"],
  ["half a second", 10, [0, 5, 10], 10.5, "0+10 10+0.5"],
  ["the only one", 6, [0], 0.1, "0+0.1"],
])("decides if a last segment stays separate: %s", (_, segmentSeconds, starts, end, segments) => {
  expect(segmentsOf("video", starts, end, segmentSeconds)).toBe(segments);
});

test("a segment waits until the next segment is long enough to be final", () => {
  const arriving = pieces([0, 2, 4, 4.2, 4.4], 4.6);
  const counts = arriving.map((_, at) => {
    const { segments, waiting } = assembleSegments(arriving.slice(0, at + 1), rule("video", 4), false);
    return `${segments.length} of ${at + 1}, ${waiting.length} waiting`;
  });
  // The third piece ends at 4.2 s, the fifth piece at 4.6 s.
  expect(counts).toEqual([
    "0 of 1, 1 waiting",
    "0 of 2, 2 waiting",
    "0 of 3, 3 waiting",
    "0 of 4, 4 waiting",
    "1 of 5, 3 waiting",
  ]);
});

test("keyframe offsets are relative to the segment", () => {
  const { segments } = assembleSegments(pieces([0, 2, 4], 6), rule("video"), true);
  expect(segments.map(({ segment }) => segment)).toEqual([
    {
      start: 10_000,
      duration: 6000,
      sizeBytes: 300,
      keyframes: [
        { offset: 0, sizeBytes: 10, start: 10_000 },
        { offset: 100, sizeBytes: 10, start: 12_000 },
        { offset: 200, sizeBytes: 10, start: 14_000 },
      ],
    },
  ]);
});

test("pieces out of order are rejected", () => {
  expect(() => assembleSegments(pieces([0, 2, 2], 4), rule("video"), true)).toThrow("follows");
});
