import { expect, it } from "vitest";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import { availableChunks, checkChunkBoundaries } from "./join.ts";
import type { JoinChunk, JoinedChunk, JoinTask } from "./join-tracks.ts";

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

const stored = (index: number, isDone = true): JoinChunk => {
  const name = `chunk-${index}-1/0-v.mp4`;
  const tracks = isDone ? [{ output: 0, track: "v", name, sizeBytes: 1, frames: 10 }] : [];
  return { range: { index, frames: 10, from: null, to: null, longestGopMs: 0 } as JoinChunk["range"], tracks };
};
const taskOf = (...chunks: JoinChunk[]): JoinTask => ({ kind: "join", chunks, outputs: [], audio: [] }) as never;

const { signal } = new AbortController();
async function joined(task: JoinTask, more: readonly JoinChunk["tracks"][] = []): Promise<number[][]> {
  const answers = [...more];
  const requestChunks = async () => [answers.shift() ?? []];
  const deps = { waiting: { begin: () => true, end: () => undefined }, signal, requestChunks };
  const all: number[][] = [];
  for await (const chunks of availableChunks(task, deps)) all.push(chunks.map(({ range }) => range.index));
  return all;
}

it("yields all chunks at once, in order, when all are available", async () => {
  expect(await joined(taskOf(stored(0), stored(1), stored(2)))).toEqual([[0, 1, 2]]);
});

it("yields the chunks before a missing chunk first, and the others without gaps as they become available", async () => {
  const task = taskOf(stored(0), stored(1, false), stored(2, false));
  expect(await joined(task, [stored(1).tracks, stored(2).tracks])).toEqual([[0], [1], [2]]);
});

it("waits for no chunk when the node cannot wait", async () => {
  const requestChunks = () => Promise.reject(new Error("asked"));
  const deps = { waiting: { begin: () => false, end: () => undefined }, signal, requestChunks };
  const chunks = availableChunks(taskOf(stored(0, false)), deps);
  await expect(chunks.next()).rejects.toMatchObject({ code: "node_busy" });
});
