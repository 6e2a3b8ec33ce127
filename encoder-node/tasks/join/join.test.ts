import { expect, it } from "vitest";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import { checkChunkBoundaries } from "./join.ts";
import type { JoinedChunk } from "./join-tracks.ts";

const TIMESCALE = 90_000;
const ticks = (seconds: number): number => (seconds + STREAM_START_SECONDS) * TIMESCALE;
/** A chunk of 25 frames per second, as planned. */
const chunk = (from: number, to: number, changes: { output?: number; frames?: number } = {}): JoinedChunk => {
  const { output = 0, frames = 25 * (to - from) } = changes;
  return {
    planned: { output, track: "v", frames: 25 * (to - from), firstUs: from * 1e6 },
    facts: { frames, start: ticks(from), end: ticks(to), timescale: TIMESCALE } as JoinedChunk["facts"],
  };
};
const check = (chunks: readonly JoinedChunk[], ...audio: { output: number; endMs: number }[]) =>
  checkChunkBoundaries({ qualities: new Map(), chunks, audio });

it.each<[string, JoinedChunk[], { output: number; endMs: number }[], number | null]>([
  ["ends with the audio", [chunk(0, 4), chunk(4, 8)], [{ output: 0, endMs: 8000 }], 0],
  ["ends after the audio: positive", [chunk(0, 4), chunk(4, 8)], [{ output: 0, endMs: 7960 }], 40],
  ["ends before the audio: negative", [chunk(0, 4), chunk(4, 8)], [{ output: 0, endMs: 8025 }], -25],
  ["is in another output than the audio", [chunk(0, 8)], [{ output: 1, endMs: 8000 }], null],
  ["is in the first of two outputs", [chunk(0, 8), chunk(0, 9, { output: 1 })], [{ output: 0, endMs: 8010 }], -10],
  ["has no audio", [chunk(0, 8)], [], null],
])("measures how much later than its audio a joined video ends, which %s", (_, chunks, audio, expected) => {
  const { videoOverAudioMs } = check(chunks, ...audio);
  if (expected === null) expect(videoOverAudioMs).toBeNull();
  else expect(videoOverAudioMs).toBeCloseTo(expected, 6);
});

it("counts planned and joined frames in the first track, and finds the largest error of a timestamp", () => {
  const late = chunk(4, 8);
  const chunks = [
    chunk(0, 4),
    { ...late, facts: { ...late.facts, start: late.facts.start + 9 } },
    chunk(0, 4, { output: 1, frames: 1 }),
  ];
  expect(check(chunks)).toMatchObject({ framesPlanned: 200, framesJoined: 200, largestErrorUs: 100 });
  expect(check([chunk(0, 4, { frames: 99 })])).toMatchObject({ framesPlanned: 100, framesJoined: 99 });
});
