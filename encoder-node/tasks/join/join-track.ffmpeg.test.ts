// Tracks joined from chunks that ffmpeg wrote.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { streamArguments } from "#shared/plan/streams/stream-muxers.ts";
import type { ScratchTrack } from "#shared/protocol/scratch.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { bodyAt, boxesIn } from "../../mp4/boxes.ts";
import { type ScratchBucket, startScratchBucket } from "../../testing/jobs/scratch-bucket.ts";
import { startTestNode, type TestNode, tools } from "../../testing/task-deps.ts";
import { fetchChunks } from "../../workspace/fetch-tracks.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { readChunkFacts } from "../chunk/chunk-file.ts";
import { openJoinedTrack } from "./join-track.ts";

/** The first frame of the second chunk, and of the third chunk. */
const SPLIT_FRAMES = [50, 100];
const SECONDS = 5.2;
const folder = fileFolder();
let bucket: ScratchBucket;
let node: TestNode;

async function ffmpeg(...argv: string[]): Promise<void> {
  const command = { path: tools.ffmpeg.path, argv: ["-v", "error", "-nostdin", ...argv], cwd: folder, stallMs: 20_000 };
  expect(await runCommand(command)).toEqual({ ok: true });
}
const encode = (name: string, trim: string, size = "64x36"): Promise<void> =>
  ffmpeg(
    ...["-f", "lavfi", "-i", `testsrc2=s=${size}:r=25:d=${SECONDS}`, "-vf", trim, "-c:v", "libx264", "-g", "25"],
    ...["-preset", "ultrafast", ...streamArguments({ fmp4: name, ts: null }, "video", 6000)],
  );

beforeAll(async () => {
  bucket = await startScratchBucket();
  node = startTestNode(folder);
  await encode("whole.mp4", "null");
  const edges = [0, ...SPLIT_FRAMES, 1000];
  for (const [at, end] of edges.slice(1).entries()) {
    await encode(`chunk-${at}.mp4`, `trim=start_frame=${edges[at]}:end_frame=${end}`);
  }
  await encode("other.mp4", "null", "64x40");
});
afterAll(async () => {
  await node.close();
  await bucket.close();
});

const path = (name: string): string => join(folder, name);
const CHUNKS = ["chunk-0.mp4", "chunk-1.mp4", "chunk-2.mp4"];

it("joins chunks to the same track as a single run makes", async () => {
  const joined = await openJoinedTrack(path("joined.mp4"), "video");
  const received = [];
  for (const chunk of CHUNKS) received.push(await joined.append(path(chunk)));
  await joined.close();
  expect(received.map(({ frames, start, timescale }) => [frames, start / timescale])).toEqual([
    [50, 10],
    [50, 12],
    [30, 14],
  ]);
  const whole = await readChunkFacts(path("whole.mp4"), "video");
  expect(whole).toEqual({ timescale: received[0]?.timescale, frames: 130, start: 10 * 12800, end: 15.2 * 12800 });
  expect(await readChunkFacts(path("joined.mp4"), "video")).toEqual(whole);
  expect(await fragmentNumbers("joined.mp4")).toEqual(await fragmentNumbers("whole.mp4"));
});

async function fragmentNumbers(name: string): Promise<number[]> {
  const boxes = boxesIn(await readFile(path(name))).filter(({ type }) => type === "moof");
  return boxes.map(({ body }) => bodyAt(body, "mfhd").readUInt32BE(4));
}

it.each([
  ["with another header", ["chunk-0.mp4", "other.mp4"], /header/],
  ["out of order", ["chunk-1.mp4", "chunk-0.mp4"], /starts before/],
  ["that are truncated", ["truncated.mp4"], /truncated/],
  ["of another format", ["text.mp4"], /truncated|box/],
])("rejects chunks %s", async (_what, chunks, why) => {
  const first = await readFile(path("chunk-0.mp4"));
  await writeFile(path("truncated.mp4"), first.subarray(0, first.length - 500));
  await writeFile(path("text.mp4"), "this is a text, not a video at all");
  await rm(path("refused.mp4"), { force: true });
  const joined = await openJoinedTrack(path("refused.mp4"), "video");
  const append = async (): Promise<void> => {
    for (const chunk of chunks) await joined.append(path(chunk));
  };
  await expect(append()).rejects.toMatchObject({ code: "encoding_failed", message: expect.stringMatching(why) });
  await joined.close();
});

async function stored(): Promise<ScratchTrack[]> {
  const parts = CHUNKS.flatMap((chunk, at) =>
    ["a", "b"].map(async (track): Promise<ScratchTrack> => {
      const bytes = await readFile(path(chunk));
      const name = `chunk-${at}-1/0-${track}.mp4`;
      await bucket.put(name, bytes);
      return { output: 0, track, name, sizeBytes: bytes.length, frames: 1 };
    }),
  );
  return Promise.all(parts);
}

async function fetched(chunks: readonly ScratchTrack[], changes: Partial<TaskDeps> = {}) {
  const work = await mkdtemp(join(folder, "w-"));
  const task = { kind: "inspect", sourceUrl: "", chunking: null };
  const deps = node.depsOf("AAAAAAAAAAAAAA.join.1", task, { requestScratch: bucket.requestScratch, ...changes });
  const received = new Map<string, Buffer[]>();
  let most = 0;
  const onChunk = async ({ track }: ScratchTrack, file: string): Promise<void> => {
    most = Math.max(most, (await readdir(work)).length);
    received.set(track, [...(received.get(track) ?? []), await readFile(file)]);
  };
  const fetching = fetchChunks({ chunks, folder: work, onChunk }, deps);
  return { fetching, received, left: () => readdir(work), most: () => most };
}

it("hands over the chunks of each track in order, and keeps few files", async () => {
  const { fetching, received, left, most } = await fetched(await stored());
  await fetching;
  const chunks = await Promise.all(CHUNKS.map((chunk) => readFile(path(chunk))));
  for (const track of ["a", "b"]) {
    expect(Buffer.concat(received.get(track) ?? []).equals(Buffer.concat(chunks))).toBe(true);
  }
  expect(await left()).toEqual([]);
  expect(most()).toBeLessThanOrEqual(4);
});

it("renews expired URLs", async () => {
  const parts = await stored();
  bucket.expire(true);
  let requests = 0;
  const { fetching, received } = await fetched(parts, {
    async requestScratch(puts, gets) {
      const answer = await bucket.requestScratch(puts, gets);
      requests += 1;
      bucket.expire(false);
      return answer;
    },
  });
  await fetching;
  expect([requests, received.get("a")?.length]).toEqual([2, 3]);
});

it.each<[string, (part: ScratchTrack) => ScratchTrack]>([
  ["does not exist", (part) => ({ ...part, name: "gone-1/0-a.mp4" })],
  ["has another size", (part) => ({ ...part, sizeBytes: part.sizeBytes - 1 })],
])("fails when a chunk %s", async (_what, change) => {
  const parts = await stored();
  const { fetching } = await fetched(parts.map((part, at) => (at === 3 ? change(part) : part)));
  await expect(fetching).rejects.toMatchObject({ code: "node_failed" });
});

it("stops after an abort", async () => {
  const abort = new AbortController();
  const { fetching } = await fetched(await stored(), { signal: abort.signal });
  abort.abort("cancelled");
  await expect(fetching).rejects.toBe("cancelled");
});
