// Chunked jobs from the source to the outputs, compared with the same outputs encoded in one run.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join as pathOf } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { probeFile } from "../../source/probe/probe.ts";
import {
  type ChunkTestBed,
  chunkTasks,
  encodeInChunks,
  encodeWhole,
  type Outputs,
  openChunkTestBed,
} from "../../testing/jobs/chunked-jobs.ts";
import { makeClip } from "../../testing/plan-runs.ts";
import { sendRange, serve } from "../../testing/range-server.ts";
import { tools } from "../../testing/task-deps.ts";
import { encodeAudio } from "../audio.ts";
import { chunk } from "../chunk/chunk.ts";

let testBed: ChunkTestBed;
beforeAll(async () => {
  testBed = await openChunkTestBed(["ntsc.mp4", "languages.mkv", "short-languages.mkv"]);
});
afterAll(() => testBed.close());

const run = promisify(execFile);

it("reads no more than a clip and 30 s of a large source that is read by ranges", async () => {
  const noise = "-f lavfi -i testsrc2=s=320x180:r=25:d=60,noise=alls=60:allf=t -f lavfi -i sine=d=60:r=48000";
  await makeClip(testBed.folder, "minute.mp4", `${noise} -c:v libx264 -preset ultrafast -qp 24 -g 50 -c:a aac`);
  const minute = pathOf(testBed.folder, "minute.mp4");
  await makeClip(testBed.folder, "large.mp4", `-stream_loop 9 -i ${minute} -c copy -movflags +faststart`);
  const bytes = await readFile(pathOf(testBed.folder, "large.mp4"));
  expect(bytes.length).toBeGreaterThan(200_000_000);
  const sockets = new Set<Socket>();
  const server = await serve((request, response) => {
    sockets.add(request.socket);
    sendRange(bytes, request, response);
  });
  const sent = (): number => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  const clip = { startMs: 302_000, endMs: 367_000 };
  const outputs = ["mp4:64x36", "mkv:64x36_15fps"].map((format, index) => specOf({ format, clip }, index));
  const { job, ranged, chunks } = await chunkTasks({ ...testBed, origin: server.origin }, "large.mp4", outputs, true);
  expect(ranged.source.from).toBe("origin");
  const inspected = sent();
  const { depsOf } = testBed.node;
  for (const task of chunks) await chunk(task, depsOf(`${job}.chunk-${task.chunk.index}.1`, task, testBed.bucket));
  const task = { kind: "audio" as const, ...ranged };
  await encodeAudio(task, depsOf(`${job}.audio.1`, task, testBed.bucket));
  const seconds = (count: number): number => (600 * count) / bytes.length;
  expect(seconds(inspected)).toBeLessThan(30);
  expect(seconds(sent() - inspected)).toBeGreaterThan(65);
  expect(seconds(sent() - inspected)).toBeLessThan(65 + 30);
});

/** All decoded frames of an audio track of a stored file, with their times. */
async function decoded(bytes: Buffer | undefined, at: number): Promise<string> {
  const path = pathOf(await mkdtemp(pathOf(testBed.folder, "look-")), "file");
  await writeFile(path, bytes ?? "");
  const frames = ["-map", `0:a:${at}`, "-enc_time_base", "-1", "-f", "framehash", "-"];
  const argv = ["-v", "error", "-copyts", "-i", path, ...frames];
  return (await run(tools.ffmpeg.path, argv, { env: toolEnvironment(), maxBuffer: 1e8 })).stdout;
}

it("makes the same audio tracks of files and streams in chunks as in a single run", async () => {
  const audioWith = (format?: string) => [
    { from: "de", name: "Neu" },
    { from: "en", offset: 0.25 },
    { from: 3, format },
    { url: `${testBed.origin}/short-languages.mkv`, offset: 3 },
  ];
  // Another format for a track, where the container has several codecs.
  const files = Object.entries({ "mp4:64x36": "ac3_192k", "mkv:64x36:opus": undefined, "mpegts:64x36": undefined });
  const stream = { hls: { path: "a" }, dash: { path: "b" }, variants: ["mp4:64x36", "mp4:x36:64k"], audio: "all" };
  const outputs = [
    // Four tracks take as long to measure as all others to encode.
    ...files.map(([format, other], at) => ({
      format,
      params: { audio: audioWith(other), ...(at === 0 ? { loudness: -20 } : {}) },
    })),
    { format: "httpstream", params: stream },
  ].map(specOf);
  const whole = await encodeWhole(testBed, "languages.mkv", outputs);
  const many = await encodeInChunks(testBed, "languages.mkv", outputs);
  expect([whole, many].map(({ result }) => result.outputs.map(({ status }) => status))).toEqual(
    Array(2).fill(outputs.map(() => "made")),
  );
  for (const [index, [format]] of files.entries()) {
    const [a, b] = [whole, many].map(({ storage }) => storage.objects.get(`${index}.1`));
    for (const at of [0, 1, 2, 3]) {
      expect([format, at, await decoded(b, at)]).toEqual([format, at, await decoded(a, at)]);
    }
    const [listed, joined] = await Promise.all([a, b].map((bytes, at) => tracksIn(`${at}`, bytes)));
    expect(joined).toEqual(listed);
    expect(listed).toHaveLength(4);
  }
  const { framesPlanned, framesJoined, largestErrorUs } = boundariesOf(many.result);
  expect([framesJoined - framesPlanned, Math.round(largestErrorUs)]).toEqual([0, 0]);
  expect(texts(many)).toEqual(texts(whole));
  expect(texts(whole).find(([name]) => name.endsWith("master.m3u8"))?.[1]).toContain('LANGUAGE="de"');
});

/** Codecs, languages, names and dispositions of the audio of a file. */
async function tracksIn(name: string, bytes: Buffer | undefined) {
  const path = pathOf(await mkdtemp(pathOf(testBed.folder, "look-")), name);
  await writeFile(path, bytes ?? "");
  const { streams } = await probeFile(tools.ffprobe, path);
  return streams
    .filter(({ codec_type }) => codec_type === "audio")
    .map(({ codec_name, channels, tags, disposition }) => {
      const { language, title, handler_name, name } = tags ?? {};
      return { codec_name, channels, language, title: title ?? name ?? handler_name, disposition };
    });
}

function boundariesOf(result: Outputs["result"]) {
  if (result.kind !== "join") throw new Error("Not the result of a join");
  return result.boundaries;
}

const STREAM = {
  format: "httpstream",
  params: { hls: { path: "a" }, dash: { path: "b" }, variants: ["mp4:64x36", "mp4:x"], thumbnails: true },
};

/** Returns the texts of a package, without names of the lease and measured values. */
function texts({ storage }: Outputs): [name: string, text: string][] {
  const plain = (text: string): string =>
    text
      .replaceAll(/\d{14}_[a-z]+_1/g, "F")
      .replaceAll(/(BANDWIDTH=|bandwidth=")\d+|BYTERANGE:.*|URI=".*"|mediaRange=".*"/g, "");
  return [...storage.objects]
    .filter(([name]) => /\.(m3u8|mpd|vtt)$/.test(name))
    .map(([name, bytes]): [string, string] => [plain(name), plain(bytes.toString())])
    .toSorted();
}

it("uploads segments of a stream while later chunks are still being fetched", async () => {
  const outputs = [specOf(STREAM, 0)];
  const whole = await encodeWhole(testBed, "ntsc.mp4", outputs);
  const published = Promise.withResolvers<void>();
  // The last chunk is sent after a segment of the first is uploaded.
  const slow = await serve(async (request, response) => {
    await published.promise;
    const bytes = await testBed.bucket.get((request.url ?? "").slice(1));
    if (bytes) sendRange(bytes, request, response);
  });
  const many = await encodeInChunks(testBed, "ntsc.mp4", outputs, (storage) => ({
    async requestScratch(puts, gets) {
      const answer = await testBed.bucket.requestScratch(puts, gets);
      if ("failure" in answer) return answer;
      const last = (at: number): boolean => at === gets.length - 1;
      return { ...answer, gets: answer.gets.map((url, at) => (last(at) ? `${slow.origin}/${gets[at]}` : url)) };
    },
    requestUploads(files) {
      if (files.some(({ file }) => String(file).endsWith("/00002.m4s"))) published.resolve();
      return storage.requestUploads(files);
    },
  }));
  const [report] = many.result.outputs;
  expect(report?.status === "made" && report.files.map(({ file }) => file)).toEqual([
    "hls/master.m3u8",
    "hls/master.vtt",
    "dash/master.mpd",
    "dash/master.vtt",
  ]);
  expect(boundariesOf(many.result)).toMatchObject({ framesPlanned: 2098, framesJoined: 2098 });
  expect(Math.abs(boundariesOf(many.result).videoOverAudioMs ?? Number.NaN)).toBeLessThan(100);
  expect(texts(many)).toEqual(texts(whole));
  const names = ({ storage }: Outputs): string[] =>
    [...storage.objects.keys()].map((name) => name.replace(/\d{14}_[a-z]+_1/, "F"));
  expect(names(many).toSorted()).toEqual(names(whole).toSorted());
});

it("joins no chunk whose number of frames differs from its span", async () => {
  const outputs = [specOf({ format: "mkv:64x36" }, 0)];
  // The chunks report their real frames: only the plan of the join differs.
  const longer = (task: TaskOf<"join">): TaskOf<"join"> => ({
    ...task,
    chunks: task.chunks.map(({ range, tracks }) => ({ range: { ...range, frames: range.frames + 1 }, tracks })),
  });
  await expect(encodeInChunks(testBed, "ntsc.mp4", outputs, undefined, longer)).rejects.toMatchObject({
    code: "chunk_mismatch",
  });
});

/** Returns all objects, without names of the lease. Growing playlists are included as they were stored last. */
const objectsOf = ({ storage }: Outputs): Map<string, string> => {
  const plain = (text: string): string => text.replaceAll(/\d{14}_[a-z]+_1/g, "F");
  return new Map(
    [...storage.objects]
      .map(([name, bytes]): [string, string] => [plain(name), plain(bytes.toString("latin1"))])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
};

it.each([
  ["a stream", {}],
  ["a stream of a clip", { clip: { startMs: 3000, endMs: 68_000 } }],
])("plays %s while later chunks are encoded, and stores the same bytes in the end", async (_, clip) => {
  const live = { ...STREAM, params: { ...STREAM.params, live_playlist: true, segment_duration: 2 } };
  const outputs = [specOf({ ...live, ...clip }, 0), specOf({ format: "mp4:64x36", ...clip }, 1)];
  const complete = await encodeInChunks(testBed, "ntsc.mp4", outputs);
  let all: TaskOf<"join">["chunks"] = [];
  const early = (task: TaskOf<"join">): TaskOf<"join"> => {
    all = task.chunks;
    return { ...task, chunks: task.chunks.map((chunk, at) => (at === 0 ? chunk : { ...chunk, tracks: [] })) };
  };
  const waits: string[] = [];
  let requests = 0;
  const growing = await encodeInChunks(
    testBed,
    "ntsc.mp4",
    outputs,
    (storage) => ({
      waiting: { begin: () => waits.push("begin") > 0, end: () => void waits.push("end") },
      async requestChunks(from) {
        requests += 1;
        const lists = storage.stored.filter(({ name }) => name === "hls/master.m3u8" || name === "dash/master.mpd");
        // Nothing more until both can be played.
        if (from === 1 && new Set(lists.map(({ name }) => name)).size < 2) return [];
        waits.push(`chunk ${from}`);
        return all.slice(from, from + 1).map(({ tracks }) => tracks);
      },
    }),
    early,
  );
  expect(waits).toEqual(["begin", ...all.slice(1).map((_, at) => `chunk ${at + 1}`), "end"]);
  expect(requests).toBeGreaterThan(waits.length - 2);
  const [first] = growing.storage.stored.filter(({ name }) => name === "dash/master.mpd");
  expect(first?.body.toString()).toContain('type="dynamic"');
  const [whole, other] = [objectsOf(complete), objectsOf(growing)];
  expect([...other.keys()]).toEqual([...whole.keys()]);
  expect([...other].filter(([name, bytes]) => whole.get(name) !== bytes).map(([name]) => name)).toEqual([]);
  const outcomes = ({ result }: Outputs) => result.outputs.toSorted((a, b) => a.output - b.output);
  expect(outcomes(growing)).toMatchObject(outputs.map(({ index }) => ({ status: "made", output: index })));
  expect(boundariesOf(growing.result)).toEqual(boundariesOf(complete.result));
});
