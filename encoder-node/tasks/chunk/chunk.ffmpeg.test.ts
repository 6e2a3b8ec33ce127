// Failures of the tasks of a chunked job.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join as pathOf } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Hardware } from "#shared/protocol/capabilities.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import { specOf } from "#shared/testing/output-specs.ts";
import { withoutSandbox } from "../../ffmpeg/sandbox/isolation.ts";
import { SLOW } from "../../testing/few.ts";
import {
  type Chunked,
  type ChunkTestBed,
  chunkTasks,
  leaseOf,
  newJob,
  openChunkTestBed,
} from "../../testing/jobs/chunked-jobs.ts";
import { tools } from "../../testing/task-deps.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { encodeAudio } from "../audio.ts";
import { join } from "../join/join.ts";
import { chunk } from "./chunk.ts";

let testBed: ChunkTestBed;
let job: string;
let ranged: Chunked["ranged"];
let chunks: Chunked["chunks"];
const ONE = [specOf({ format: "mp4:64x36" }, 0)];
beforeAll(withoutSandbox);
beforeAll(async () => {
  testBed = await openChunkTestBed(["ntsc.mp4"]);
  ({ job, ranged, chunks } = await chunkTasks(testBed, "ntsc.mp4", ONE));
});
afterAll(() => testBed.close());

const scripted = async (name: string, script: string): Promise<TaskDeps["ffmpeg"]> => {
  const path = pathOf(testBed.folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { ...tools.ffmpeg, path };
};

it("retries a chunk once with more preroll when its frames are not as planned", async () => {
  const [, second] = chunks;
  if (!second) throw new Error("No second chunk");
  const ffmpeg = await scripted(
    "forgetful-ffmpeg",
    // A first pass leaves no file.
    `"${tools.ffmpeg.path}" "$@" || exit
case "$*" in
  *-video.mp4) echo "$*" >> ${testBed.folder}/tries; [ $(wc -l < ${testBed.folder}/tries) != 1 ] || truncate -s 30000 *-video.mp4;;
esac`,
  );
  const deps = testBed.node.depsOf(leaseOf(job, "again"), second, { ...testBed.bucket, ffmpeg });
  expect(await chunk(second, deps)).toMatchObject({
    kind: "chunk",
    tracks: [{ track: "video", frames: second.chunk.frames }],
  });
  const seeks = (await readFile(pathOf(testBed.folder, "tries"), "utf8"))
    .split("\n")
    .map((line) => Number(/-ss ([\d.]+)/.exec(line)?.[1]));
  expect((seeks[0] ?? 0) - (seeks[1] ?? 0)).toBeGreaterThanOrEqual(19);
});

it("fails a chunk that never has the planned frames", SLOW, async () => {
  const [first] = chunks;
  if (!first) throw new Error("No chunk");
  const ffmpeg = await scripted(
    "short-ffmpeg",
    `"${tools.ffmpeg.path}" "$@" && { [ ! -e *-video.mp4 ] || truncate -s 30000 *-video.mp4; }`,
  );
  const deps = testBed.node.depsOf(leaseOf(job, "never"), first, { ...testBed.bucket, ffmpeg });
  await expect(chunk(first, deps)).rejects.toMatchObject({ code: "chunk_mismatch" });
});

const NVENC: Hardware = { name: "nvenc", path: null, encoders: ["h264_nvenc"] };
it("encodes a chunk in software when hardware fails, unless other chunks were encoded with it", SLOW, async () => {
  const task = chunks.at(-1);
  if (!task) throw new Error("No chunk");
  const ffmpeg = await scripted(
    "gpu-ffmpeg",
    `case "$*" in *_nvenc*) exit 187;; *) exec "${tools.ffmpeg.path}" "$@";; esac`,
  );
  const { capabilities } = testBed.node.depsOf(leaseOf(job, "any"), task, {});
  const changes = { ...testBed.bucket, ffmpeg, capabilities: { ...capabilities, hardware: NVENC } };
  // NVENC does not support small frames.
  const outputs = [specOf({ format: "mp4:240p" }, 0)];
  const encodedBy = (encoder: string | null): Promise<TaskResult> =>
    chunk({ ...task, outputs, encoder }, testBed.node.depsOf(leaseOf(job, "hw"), task, changes));
  expect(await encodedBy(null)).toMatchObject({ encoder: "libx264 n7" });
  await expect(encodedBy("h264_nvenc n7")).rejects.toMatchObject({ code: "encoding_failed" });
  await expect(encodedBy("libx264 n6")).rejects.toMatchObject({ code: "encoder_not_available" });
});

it("leaves no file and no process behind after an abort", async () => {
  const [first] = chunks;
  if (!first) throw new Error("No chunk");
  const ffmpeg = await scripted("slow-ffmpeg", `echo $$ >> ${testBed.folder}/pids; sleep 600`);
  const audioTask = { kind: "audio" as const, ...ranged };
  const stuck = { kind: "join" as const, probe: ranged.probe, outputs: ONE, chunks: [], audio: [] };
  const works = [
    (deps: TaskDeps) => chunk(first, deps),
    (deps: TaskDeps) => encodeAudio(audioTask, deps),
    (deps: TaskDeps) => join(stuck, deps),
  ];
  for (const [at, work] of works.entries()) {
    const abort = new AbortController();
    const deps = testBed.node.depsOf(leaseOf(job, `gone-${at}`), first, {
      ...testBed.bucket,
      ffmpeg,
      signal: abort.signal,
    });
    const working = work(deps);
    await vi.waitFor(
      async () => expect((await readFile(pathOf(testBed.folder, "pids"), "utf8")).split("\n")).toHaveLength(at + 2),
      { timeout: 20_000 },
    );
    abort.abort("cancelled");
    await expect(working).rejects.toBe("cancelled");
  }
  const pids = (await readFile(pathOf(testBed.folder, "pids"), "utf8")).trim().split("\n");
  for (const pid of pids) expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
  expect(await readdir(pathOf(testBed.folder, "tasks"))).toEqual([]);
});

it("fails a chunk whose source does not exist", async () => {
  const [first] = chunks;
  if (first?.source.from !== "scratch") throw new Error("No chunk");
  const source = {
    ...first.source,
    pieces: first.source.pieces.map((piece) => ({ ...piece, name: "gone-1/source-00001" })),
  };
  // A new job, because this node has cached the source of the first job.
  const lease = leaseOf(newJob(), "chunk-0");
  const failing = chunk({ ...first, source }, testBed.node.depsOf(lease, first, testBed.bucket));
  await expect(failing).rejects.toMatchObject({
    code: "node_failed",
    message: expect.stringContaining("copy of the input"),
  });
});

it("fails a join of a chunk that lacks its output", async () => {
  const [first] = chunks;
  if (!first) throw new Error("No chunk");
  const task = {
    kind: "join" as const,
    probe: ranged.probe,
    outputs: ONE,
    chunks: [
      { range: first.chunk, tracks: [{ output: 1, track: "video", name: "chunk-0-1", sizeBytes: 9, frames: 9 }] },
    ],
    audio: [],
  };
  await expect(join(task, testBed.node.depsOf(leaseOf(job, "lacking"), task, testBed.bucket))).rejects.toMatchObject({
    code: "chunk_mismatch",
  });
});
