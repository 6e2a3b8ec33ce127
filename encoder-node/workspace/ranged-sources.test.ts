// Sources read by ranges from a real bucket, through the node's proxy.
import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { withoutSandbox } from "../ffmpeg/sandbox/isolation.ts";
import { type ScratchBucket, startScratchBucket } from "../testing/jobs/scratch-bucket.ts";
import { closeServers, noise, sendRange, serve } from "../testing/range-server.ts";
import { startTestNode, type TestNode } from "../testing/task-deps.ts";
import type { TaskDeps } from "./task-deps.ts";
import { openRangedSource } from "./task-source.ts";

const folder = fileFolder();
let bucket: ScratchBucket;
let node: TestNode;
const CLIP = noise(2_500_000);
const PIECES = [1_200_000, 1_000_000, 300_000].map((sizeBytes, at) => ({
  name: `inspect-1/source-0000${at + 1}`,
  sizeBytes,
}));
// The proxy must listen where this process can connect.
beforeAll(withoutSandbox);
beforeAll(async () => {
  bucket = await startScratchBucket();
  node = startTestNode(folder);
  let at = 0;
  for (const { name, sizeBytes } of PIECES) {
    await bucket.put(name, CLIP.subarray(at, at + sizeBytes));
    at += sizeBytes;
  }
});
afterAll(async () => {
  closeServers();
  await bucket.close();
});

const TASK = {
  kind: "audio",
  sourceUrl: "http://127.0.0.1:9/",
  source: { from: "scratch", pieces: PIECES },
  probe: { streams: [], format: {} },
  outputs: [],
} as const;
const opened = (job: string, lease: number, changes: Partial<TaskDeps> = {}, task: unknown = TASK) => {
  const deps = node.depsOf(`${job.repeat(14)}.audio.${lease}`, task, {
    requestScratch: bucket.requestScratch,
    ...changes,
  });
  return openRangedSource(deps.task as TaskOf<"audio">, deps);
};

async function bytesAt(url: string, start: number, end: number): Promise<Buffer> {
  const response = await fetch(url, { headers: { range: `bytes=${start}-${end}` } });
  return Buffer.from(await response.arrayBuffer());
}

it("reads pieces as a single file, and nothing after the file is closed", async () => {
  const input = await opened("A", 1);
  expect((await bytesAt(input.url, 1_100_000, 2_300_000)).equals(CLIP.subarray(1_100_000, 2_300_001))).toBe(true);
  input.close();
  expect((await fetch(input.url)).status).toBe(404);
});

it("renews expired URLs through a lease that still runs", async () => {
  bucket.expire(true);
  let requests = 0;
  const ended = await opened("B", 1, {
    requestScratch: async (puts, gets) => {
      if (requests++ === 0) return bucket.requestScratch(puts, gets);
      throw new AppError("lease_superseded", "superseded");
    },
  });
  const input = await opened("B", 2);
  bucket.expire(false);
  expect((await bytesAt(input.url, 0, 99)).equals(CLIP.subarray(0, 100))).toBe(true);
  ended.close();
  input.close();
});

it("fails the run whose source cannot be read", async () => {
  bucket.expire(true);
  const input = await opened("C", 1);
  const stuck = bytesAt(input.url, 0, 99).catch(() => null);
  await new Promise((failed) => input.failed.addEventListener("abort", failed));
  expect(input.failed.reason).toMatchObject({ code: "input_http_403" });
  input.close();
  await stuck;
  bucket.expire(false);
});

it("does not mix the sources of a job that was retried", async () => {
  const again = PIECES.map(({ sizeBytes }, at) => ({ name: `inspect-1-1/source-0000${at + 1}`, sizeBytes }));
  for (const { name, sizeBytes } of again) await bucket.put(name, Buffer.alloc(sizeBytes, 7));
  const before = await opened("D", 1);
  expect((await bytesAt(before.url, 0, 99)).equals(CLIP.subarray(0, 100))).toBe(true);
  const after = await opened("D", 2, {}, { ...TASK, source: { from: "scratch", pieces: again } });
  expect((await bytesAt(after.url, 0, 99)).equals(Buffer.alloc(100, 7))).toBe(true);
  expect((await bytesAt(before.url, 2_400_000, 2_400_099)).equals(CLIP.subarray(2_400_000, 2_400_100))).toBe(true);
  before.close();
  after.close();
});

it.each<[string, string | undefined, boolean]>([
  ["the version that was inspected", '"v1"', true],
  ["any, when none is named", undefined, true],
  ["no other version", '"v0"', false],
])("reads a source at its origin: %s", async (_what, validator, isRead) => {
  const { origin } = await serve((request, response) => sendRange(CLIP, request, response));
  const version = validator === undefined ? {} : { validator };
  const source = { from: "origin", sizeBytes: CLIP.length, ...version };
  const input = await opened("E", 1, {}, { ...TASK, sourceUrl: `${origin}/`, source });
  const read = bytesAt(input.url, 0, 99).catch(() => null);
  if (isRead) {
    expect((await read)?.equals(CLIP.subarray(0, 100))).toBe(true);
  } else {
    await new Promise((failed) => input.failed.addEventListener("abort", failed));
    expect(input.failed.reason).toMatchObject({
      code: "input_unreachable",
      message: expect.stringMatching(/changed the file/),
    });
  }
  input.close();
  await read;
});

it("sends the headers of the client with each range of a source at its origin", async () => {
  const { origin, seen } = await serve((request, response) => sendRange(CLIP, request, response));
  const source = { from: "origin", sizeBytes: CLIP.length, validator: '"v1"' };
  const located = { sourceUrl: `${origin}/`, sourceHeaders: { "x-token": "secret" } };
  const input = await opened("H", 1, {}, { ...TASK, ...located, source });
  expect((await bytesAt(input.url, 0, 99)).equals(CLIP.subarray(0, 100))).toBe(true);
  input.close();
  expect(seen.length).toBeGreaterThan(0);
  for (const { headers } of seen) expect([headers["x-token"], headers.range]).toEqual(["secret", expect.any(String)]);
});

it("fails the run whose source does not arrive in time, if the run needs all of it", async () => {
  let isSlow = true;
  const { origin } = await serve((request, response) => {
    if (!isSlow) return sendRange(CLIP, request, response);
    response
      .writeHead(206, { "content-range": `bytes 0-${CLIP.length - 1}/${CLIP.length}` })
      .write(CLIP.subarray(0, 1));
  });
  const pieces = [{ url: `${origin}/`, sizeBytes: CLIP.length }];
  const { sources } = node.depsOf(`${"F".repeat(14)}.audio.1`, TASK, {});
  const { file, release } = await sources.open("F", { locate: async () => pieces, allow: "loopback", maxBytes: 1e9 });
  const slow = await node.rangedSources.serve(file, { allWithinMs: 100 });
  await new Promise((failed) => slow.failed.addEventListener("abort", failed));
  expect(slow.failed.reason).toMatchObject({ code: "input_timeout" });
  slow.close();
  isSlow = false;
  const quick = await node.rangedSources.serve(file, { allWithinMs: 60_000 });
  expect((await bytesAt(quick.url, 0, CLIP.length - 1)).equals(CLIP)).toBe(true);
  expect([quick.failed.aborted, file.isWhole]).toEqual([false, true]);
  quick.close();
  release();
});

it("ranged sources leave no files behind", async () => {
  await node.close();
  expect(await readdir(folder)).toEqual([]);
});
