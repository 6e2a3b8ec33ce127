import { expect, it } from "vitest";
import { availableChunks } from "./join.ts";
import type { JoinChunk, JoinTask } from "./join-tracks.ts";

const chunk = (index: number, isDone = true): JoinChunk => {
  const name = `chunk-${index}-1/0-v.mp4`;
  const tracks = isDone ? [{ output: 0, track: "v", name, sizeBytes: 1, frames: 10 }] : [];
  return { range: { index, frames: 10, from: null, to: null, longestGopMs: 0 } as JoinChunk["range"], tracks };
};
const taskOf = (...chunks: JoinChunk[]): JoinTask => ({ kind: "join", chunks, outputs: [], audio: [] }) as never;
const indexesOf = (chunks: readonly JoinChunk[]): number[] => chunks.map(({ range }) => range.index);

async function joined(task: JoinTask, more: readonly JoinChunk["tracks"][] = []): Promise<number[][]> {
  const answers = [...more];
  const deps = {
    waiting: { begin: () => true, end: () => undefined },
    signal: new AbortController().signal,
    requestChunks: async () => [answers.shift() ?? []],
  };
  const all: number[][] = [];
  for await (const chunks of availableChunks(task, deps)) all.push(indexesOf(chunks));
  return all;
}

it("yields all chunks at once, in order, when all are available", async () => {
  expect(await joined(taskOf(chunk(0), chunk(1), chunk(2)))).toEqual([[0, 1, 2]]);
});

it("yields the chunks before a missing chunk first, and the others without gaps as they become available", async () => {
  const task = taskOf(chunk(0), chunk(1, false), chunk(2, false));
  expect(await joined(task, [chunk(1).tracks, chunk(2).tracks])).toEqual([[0], [1], [2]]);
});

it("waits for no chunk when the node cannot wait", async () => {
  const deps = {
    waiting: { begin: () => false, end: () => undefined },
    signal: new AbortController().signal,
    requestChunks: () => Promise.reject(new Error("asked")),
  };
  const chunks = availableChunks(taskOf(chunk(0, false)), deps);
  await expect(chunks.next()).rejects.toMatchObject({ code: "node_busy" });
});
