// Support for tests of chunked jobs: clips, and all tasks of a job as the control plane makes them, with ffmpeg and a
// scratch bucket.

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as pathOf } from "node:path";
import { expect } from "vitest";
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import { readsTexts } from "#shared/job/subtitles.ts";
import { unpackSplitPoints } from "#shared/media/frame-index.ts";
import { chooseSplitPoints } from "#shared/plan/chunks/choose-split-points.ts";
import { chunkGridMs } from "#shared/plan/chunks/chunkable-source.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import { Task, type TaskOf } from "#shared/protocol/tasks.ts";
import { encodeAudio } from "../../tasks/audio.ts";
import { chunk } from "../../tasks/chunk/chunk.ts";
import { encode } from "../../tasks/encode/encode.ts";
import { inspect } from "../../tasks/inspect/inspect.ts";
import { join } from "../../tasks/join/join.ts";
import { readSourceTexts } from "../../tasks/texts.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { makeClip } from "../plan-runs.ts";
import { closeServers, sendRange, serve } from "../range-server.ts";
import { startTestNode, type TestNode } from "../task-deps.ts";
import { type ScratchBucket, startScratchBucket } from "./scratch-bucket.ts";
import { startTestStorage, type TestStorage } from "./stream-storage.ts";

const X264 = "-c:v libx264 -preset ultrafast -g 60 -pix_fmt yuv420p";
const AUDIO = "-f lavfi -i sine=d=70:r=48000";
/** A clip with three audio tracks of this many seconds. */
function languages(seconds: number): string {
  const tone = (hz: number, late: number): string =>
    `-itsoffset ${late} -f lavfi -i sine=${hz}:d=${seconds - 1}:r=48000`;
  return [
    `-f lavfi -i testsrc2=s=160x90:r=25:d=${seconds} ${tone(330, 0)} ${tone(440, 0.5)} ${tone(550, 0)}`,
    `-map 0 -map 1 -map 2 -map 3 ${X264} -c:a flac -ac:a:0 6 -ac:a:1 2`,
    "-metadata:s:a:0 language=eng -metadata:s:a:1 language=ger -metadata:s:a:2 language=fra",
    "-disposition:a:0 default -disposition:a:1 0 -disposition:a:2 comment",
  ].join(" ");
}
const CLIPS = {
  "ntsc.mp4": `-f lavfi -i testsrc2=s=160x90:r=30000/1001:d=70 ${AUDIO} ${X264} -bf 2 -c:a aac`,
  /** Too short for chunks. */
  "short.mp4": `-f lavfi -i testsrc2=s=160x90:r=25:d=12 -f lavfi -i sine=d=12:r=48000 ${X264} -c:a aac`,
  /** English 5.1, German that starts late, and a French commentary. */
  "languages.mkv": languages(70),
  "short-languages.mkv": languages(6),
};
export type Clip = keyof typeof CLIPS;

export type ChunkTestBed = {
  readonly folder: string;
  readonly bucket: ScratchBucket;
  readonly node: TestNode;
  /** The engine of the task `texts`. */
  readonly speech: TaskDeps["speech"];
  /** Where the clips are served. */
  readonly origin: string;
  close(): Promise<void>;
};

/** Opens a node, a scratch bucket, and a server with these clips. */
export async function openChunkTestBed(
  clips: readonly Clip[],
  speech: TaskDeps["speech"] = null,
): Promise<ChunkTestBed> {
  const folder = await mkdtemp(pathOf(tmpdir(), "copra-chunked-"));
  for (const name of clips) await makeClip(folder, name, CLIPS[name]);
  const bucket = await startScratchBucket();
  const node = startTestNode(folder);
  const { origin } = await serve(async (request, response) => {
    sendRange(await readFile(pathOf(folder, (request.url ?? "").slice(1))), request, response);
  });
  return {
    folder,
    bucket,
    node,
    speech,
    origin,
    async close() {
      closeServers();
      await node.close();
      await bucket.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

let jobs = 0;
export const newJob = (): string => String(++jobs).padStart(14, "0");
export const leaseOf = (job: string, task: string): string => `${job}.${task}.1`;

export type Outputs = { readonly result: TaskResult & { kind: "encode" | "join" }; readonly storage: TestStorage };

/** Encodes the outputs as a single task, in a single run. `given` overrides deps of the task. */
export async function encodeWhole(
  testBed: ChunkTestBed,
  clip: string,
  outputs: OutputSpec[],
  changes: Partial<TaskDeps> = {},
): Promise<Outputs> {
  const storage = await startTestStorage();
  const lease = leaseOf(newJob(), "encode");
  const { probe } = await inspected(testBed, clip, lease, null);
  const task = { kind: "encode" as const, sourceUrl: `${testBed.origin}/${clip}`, probe, outputs };
  const result = await encode(task, testBed.node.depsOf(lease, task, { ...storage, ...changes }));
  if (result.kind !== "encode") throw new Error("Not the result of an encode");
  storage.close();
  return { result, storage };
}

async function inspected(
  { node, bucket, origin }: ChunkTestBed,
  clip: string,
  lease: string,
  chunking: TaskOf<"inspect">["chunking"],
) {
  const task = { kind: "inspect" as const, sourceUrl: `${origin}/${clip}`, chunking };
  const result = await inspect(task, node.depsOf(lease, task, bucket));
  if (result.kind !== "inspect") throw new Error("Not the result of an inspect");
  return result;
}

export type Chunked = {
  readonly job: string;
  readonly ranged: Omit<TaskOf<"audio">, "kind">;
  readonly chunks: readonly TaskOf<"chunk">[];
};

/** The tasks of a job's chunks, as the control plane makes them. */
export async function chunkTasks(
  testBed: ChunkTestBed,
  clip: string,
  outputs: OutputSpec[],
  readOrigin = false,
): Promise<Chunked> {
  const job = newJob();
  const { probe, chunking } = await inspected(testBed, clip, leaseOf(job, "inspect"), {
    readOrigin,
    ...(outputs[0]?.clip ? { clip: outputs[0].clip } : {}),
  });
  if (!chunking?.ok) throw new Error(chunking?.reason);
  const source = { ...chunking, splitPoints: unpackSplitPoints(chunking.splitPoints) };
  const chosen = chooseSplitPoints(source, { segmentMs: chunkGridMs(outputs) ?? 0, slots: 2, audioMs: 0 });
  if (!chosen.ok) throw new Error(chosen.error);
  const ranged = { sourceUrl: `${testBed.origin}/${clip}`, source: chunking.source, probe, outputs };
  const chunks = chosen.value.map((span) => ({ kind: "chunk" as const, ...ranged, chunk: span, encoder: null }));
  return { job, ranged, chunks };
}

/** The text of the source, if the outputs show any. */
async function textsOf({ node, bucket, speech }: ChunkTestBed, job: string, ranged: Chunked["ranged"]) {
  if (!ranged.outputs.some((spec) => hasTracks(spec) && readsTexts(spec))) return {};
  const task = { kind: "texts" as const, ...ranged };
  const result = await readSourceTexts(task, node.depsOf(leaseOf(job, "texts"), task, { ...bucket, speech }));
  if (result.kind !== "texts") throw new Error("Not the text of a source");
  return { texts: result.tracks };
}

/**
 * Encodes the outputs in chunks and joins them. `given` overrides deps of the join, `changed` replaces its task, and
 * `changedChunk` replaces the tasks of the chunks.
 */
export async function encodeInChunks(
  testBed: ChunkTestBed,
  clip: string,
  outputs: OutputSpec[],
  changes: (storage: TestStorage) => Partial<TaskDeps> = () => ({}),
  changed: (task: TaskOf<"join">) => TaskOf<"join"> = (task) => task,
  changedChunk: (task: TaskOf<"chunk">) => TaskOf<"chunk"> = (task) => task,
): Promise<Outputs> {
  const { node, bucket, folder } = testBed;
  const { job, ranged, chunks } = await chunkTasks(testBed, clip, outputs);
  expect(chunks.length).toBeGreaterThan(1);
  const storage = await startTestStorage();
  const texts = await textsOf(testBed, job, ranged);
  const results = await Promise.all(
    chunks
      .map((task) => changedChunk({ ...task, ...texts }))
      .map(async (task) => {
        const result = await chunk(task, node.depsOf(leaseOf(job, `chunk-${task.chunk.index}`), task, bucket));
        if (result.kind !== "chunk") throw new Error("Not the result of a chunk");
        expect(result.encoder).toMatch(/^libx264\b.* n7$/);
        return { range: task.chunk, tracks: result.tracks };
      }),
  );
  const audioTask = { kind: "audio" as const, ...ranged };
  const audio = await encodeAudio(audioTask, node.depsOf(leaseOf(job, "audio"), audioTask, bucket));
  if (audio.kind !== "audio") throw new Error("Not the result of an audio task");
  const task = changed({ kind: "join", probe: ranged.probe, outputs, chunks: results, audio: audio.tracks, ...texts });
  // Checks that the frame schema accepts it.
  Task.parse(task);
  const deps = node.depsOf(leaseOf(job, "join"), task, { ...bucket, ...storage, ...changes(storage) });
  const result = await join(task, deps);
  if (result.kind !== "join") throw new Error("Not the result of a join");
  expect(await readdir(pathOf(folder, "tasks"))).toEqual([]);
  storage.close();
  return { result, storage };
}
