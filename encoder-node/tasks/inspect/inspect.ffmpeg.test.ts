// The task `inspect` of a chunked job, with ffprobe and a scratch bucket.
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import { MAX_SPLIT_POINTS, type PackedSplitPoints, unpackSplitPoints } from "#shared/media/frame-index.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import { type ScratchBucket, startScratchBucket } from "../../testing/jobs/scratch-bucket.ts";
import { closeServers, sendRange, serve, type TestServer } from "../../testing/range-server.ts";
import { startTestNode, type TestNode, tools } from "../../testing/task-deps.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { inspect } from "./inspect.ts";
import { isTooLong, scratchSource } from "./split-points.ts";

const folder = fileFolder();
let bucket: ScratchBucket;
let node: TestNode;
let origin: string;
let server: TestServer;
const CLIPS = {
  "clip.mp4": "-f lavfi -i testsrc2=s=160x90:r=25:d=70 -c:v libx264 -preset ultrafast -g 125",
  // Most of the file is noise, so its header and first frames are a small part.
  "noisy.mp4":
    "-f lavfi -i testsrc2=s=160x90:r=25:d=70,noise=alls=60:allf=t -c:v libx264 -preset ultrafast -qp 10 -g 50 -movflags +faststart",
  "short.mp4": "-f lavfi -i testsrc2=s=160x90:r=25:d=5 -c:v libx264 -preset ultrafast",
  "audio.mp4": "-f lavfi -i sine=d=70 -c:a aac",
  "plain.mp3": "-f lavfi -i sine=d=10 -ac 2 -c:a libmp3lame -b:a 128k -write_xing 0 -id3v2_version 0",
};

/** An ID3v2 tag without frames; sizes have seven bits in each byte (ID3v2.4 §3.1). */
const id3Tag = (version: number, size: number): Buffer =>
  Buffer.concat([
    Buffer.from("ID3"),
    Buffer.from([version, 0, 0]),
    Buffer.from([21, 14, 7, 0].map((bits) => (size >> bits) & 0x7f)),
    Buffer.alloc(size, "A"),
  ]);

beforeAll(async () => {
  for (const [name, options] of Object.entries(CLIPS)) {
    const argv = ["-v", "error", "-nostdin", ...options.split(" "), name];
    expect(await runCommand({ path: tools.ffmpeg.path, argv, cwd: folder, stallMs: 20_000 })).toEqual({ ok: true });
  }
  const clip = await readFile(join(folder, "clip.mp4"));
  await writeFile(join(folder, "truncated.mp4"), clip.subarray(0, clip.length - 1000));
  const twoTags = [id3Tag(3, 246), id3Tag(4, 26_570), await readFile(join(folder, "plain.mp3"))];
  await writeFile(join(folder, "two-tags.mp3"), Buffer.concat(twoTags));
  bucket = await startScratchBucket();
  node = startTestNode(folder);
  server = await serve(async (request, response) => {
    const [, how, name = ""] = (request.url ?? "").split("/");
    const bytes = await readFile(join(folder, name));
    if (how === "whole") response.writeHead(200, { "content-length": bytes.length }).end(bytes);
    else sendRange(bytes, request, response);
  });
  origin = server.origin;
});
afterAll(async () => {
  closeServers();
  await node.close();
  await bucket.close();
});

let attempt = 0;
async function inspected(
  path: string,
  chunking: TaskOf<"inspect">["chunking"] = { readOrigin: false },
  changes: Partial<TaskDeps> = {},
  onlyProbe = false,
) {
  attempt += 1;
  const task = { kind: "inspect" as const, sourceUrl: `${origin}/${path}`, chunking, onlyProbe };
  // A new job each time, so that the source is not cached.
  const lease = `${String(attempt).padStart(14, "0")}.inspect.${attempt}`;
  const deps = node.depsOf(lease, task, { requestScratch: bucket.requestScratch, ...changes });
  const result = (await inspect(task, deps)) as TaskResult & { kind: "inspect" };
  return { chunking: result.chunking, probe: result.probe, reported: deps.reported };
}

it("recognizes a source by its content: an MP3 that starts with two ID3 tags", async () => {
  const { probe } = await inspected("whole/two-tags.mp3", null);
  expect(probe).toMatchObject({ format: { format_name: "mp3" }, streams: [{ codec_name: "mp3", channels: 2 }] });
});

it("names a web page that the host sends in place of a media file", async () => {
  await writeFile(join(folder, "login.mp4"), "<!doctype html><title>Sign in</title>");
  await expect(inspected("whole/login.mp4", null)).rejects.toMatchObject({
    code: "input_not_media",
    message: expect.stringMatching(
      /^The host responded with a web page \(text\/html\), not with a media file; check that/,
    ),
  });
});

it("finds the split points of a source, and copies it to the scratch bucket", async () => {
  const { chunking, reported } = await inspected("ranges/clip.mp4");
  if (!chunking?.ok || chunking.source.from !== "scratch") throw new Error(JSON.stringify(chunking));
  expect(chunking).toMatchObject({ frames: 1750, longestGopMs: 5000 });
  expect(unpackSplitPoints(chunking.splitPoints)).toHaveLength(34);
  expect(unpackSplitPoints(chunking.splitPoints)[2]).toMatchObject({
    index: 150,
    frameUs: 6e6,
    splitUs: 5.98e6,
    keyframe: 125,
  });
  const clip = await readFile(join(folder, "clip.mp4"));
  expect(chunking.source.pieces).toEqual([{ name: `inspect-${attempt}/source-00001`, sizeBytes: clip.length }]);
  expect(clip.equals((await bucket.get(`inspect-${attempt}/source-00001`)) ?? Buffer.alloc(0))).toBe(true);
  const fractions = reported.map(({ fraction }) => fraction);
  expect(new Set(reported.map(({ stage }) => stage))).toEqual(new Set(["transferring"]));
  expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
  expect(fractions.at(-1)).toBe(1);
});

it("stores a large source in several pieces", async () => {
  const deps = node.depsOf("AAAAAAAAAAAAAA.inspect.99", { kind: "inspect", sourceUrl: "", chunking: null }, bucket);
  const source = await scratchSource(join(folder, "clip.mp4"), deps, 100_000);
  if (source.from !== "scratch") throw new Error("Not there");
  const stored = await Promise.all(source.pieces.map(({ name }) => bucket.get(name)));
  expect(stored.length).toBeGreaterThan(4);
  const clip = await readFile(join(folder, "clip.mp4"));
  expect(Buffer.concat(stored.map((piece) => piece ?? Buffer.alloc(0))).equals(clip)).toBe(true);
});

it.each([
  ["ranges/clip.mp4", "origin"],
  ["whole/clip.mp4", "scratch"],
])("reads the source of %s at the %s if the task allows it", async (path, from) => {
  const { chunking } = await inspected(path, { readOrigin: true });
  const version = from === "origin" ? { validator: '"v1"' } : {};
  expect(chunking).toMatchObject({ ok: true, source: { from, ...version } });
});

it("inspects a source that is read at its origin without fetching it", async () => {
  const whole = await inspected("whole/noisy.mp4");
  const before = server.sent();
  const early = await inspected("ranges/noisy.mp4", { readOrigin: true });
  const { size } = await stat(join(folder, "noisy.mp4"));
  expect(server.sent() - before).toBeLessThan(size / 2);
  expect(early.probe).toEqual(whole.probe);
  expect(early.chunking).toEqual({ ...whole.chunking, source: { from: "origin", sizeBytes: size, validator: '"v1"' } });
});

it("reads only the header and the first frames for a probe, if the host supports ranges", async () => {
  const whole = await inspected("whole/noisy.mp4", null, {}, true);
  const before = server.sent();
  const part = await inspected("ranges/noisy.mp4", null, {}, true);
  expect(server.sent() - before).toBeLessThan((await stat(join(folder, "noisy.mp4"))).size / 2);
  expect(part.probe).toEqual(whole.probe);
});

const noBucket: TaskDeps["requestScratch"] = async () => ({
  failure: { code: "storage_denied", message: "The storage denies the request (AccessDenied)." },
});
it.each<[string, string, RegExp, Partial<TaskDeps>]>([
  [
    "a short video",
    "ranges/short.mp4",
    /^The video cannot be split into chunks, because it is not longer than 60 s\.$/,
    {},
  ],
  ["audio alone", "ranges/audio.mp4", /^The video cannot be split into chunks, because it has no video track\.$/, {}],
  [
    "a bucket that rejects writes",
    "ranges/clip.mp4",
    /^The video cannot be split into chunks, because its source could not be copied to the scratch storage\.$/,
    { requestScratch: noBucket },
  ],
])("explains why %s is not split, and inspects it", async (_what, path, why, changes) => {
  const { chunking } = await inspected(path, undefined, changes);
  expect(chunking).toEqual({ ok: false, reason: expect.stringMatching(why) });
});

it("fetches the source again when its job is retried", async () => {
  const streams = async (lease: string, path: string, round = 0) => {
    const task = { kind: "inspect" as const, sourceUrl: `${origin}/ranges/${path}`, chunking: null };
    const result = (await inspect(task, node.depsOf(`${"R".repeat(14)}.${lease}`, task, { round }))) as TaskResult & {
      kind: "inspect";
    };
    return result.probe.streams.map(({ codec_type }) => codec_type);
  };
  expect(await streams("inspect.1", "short.mp4")).toEqual(["video"]);
  expect(await streams("inspect.2", "audio.mp4")).toEqual(["video"]);
  expect(await streams("inspect-1.1", "audio.mp4", 1)).toEqual(["audio"]);
});

it.each<[string, number, string, boolean]>([
  ["of 11 hours", MAX_SPLIT_POINTS, "", false],
  ["with one split point more", MAX_SPLIT_POINTS + 1, "", true],
  ["with much metadata", 10_000, "é".repeat(300_000), true],
])("decides whether the report of a source %s is too long", (_what, count, title, tooLong) => {
  const splitPoints = Array.from({ length: count }, (): PackedSplitPoints[number] => [
    120, 2_000_000, 8333, 120, 4_000_000,
  ]);
  expect(isTooLong(splitPoints, { streams: [], format: { tags: { title } } })).toBe(tooLong);
});

it("finds no split points unless requested", async () => {
  expect((await inspected("ranges/clip.mp4", null)).chunking).toBeUndefined();
});

it("fails when the lease is superseded", async () => {
  const superseded = (): Promise<never> => Promise.reject(new AppError("lease_superseded", "no longer"));
  await expect(inspected("ranges/clip.mp4", undefined, { requestScratch: superseded })).rejects.toMatchObject({
    code: "lease_superseded",
  });
});
