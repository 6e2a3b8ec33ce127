// The work of a simulated node for each task: its time, its uploads, and its reports.

import { parseLeaseId } from "#shared/ids.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { streamFolder } from "#shared/job/stream-files.ts";
import { packSplitPoints } from "#shared/media/frame-index.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { countImageFiles } from "#shared/plan/thumbnails/image-files.ts";
import type { TaskStage } from "#shared/protocol/frames.ts";
import type { OutputReport, TaskResult } from "#shared/protocol/reports.ts";
import { type ScratchAnswer, scratchFolder } from "#shared/protocol/scratch.ts";
import type { Assignment, TaskOf } from "#shared/protocol/tasks.ts";
import type { FileName, UploadedFile, UploadsAnswer } from "#shared/protocol/uploads.ts";

/** Durations of the work on a job. Times are in ms. */
export type Workload = {
  /** Length of the source in seconds. */
  readonly seconds: number;
  readonly fetchMs: number;
  /** Time of an encode task with all its videos; images are ready after a tenth of this time. */
  readonly encodeMs: number;
  readonly chunkMs: number;
  readonly joinMs: number;
  /** Size of each video. */
  readonly videoBytes: number;
  /** The failure that the node reports instead of a result. */
  readonly fails?: { readonly code: string; readonly message: string };
  /** True if the task kills its node's process. */
  readonly kills?: boolean;
};

/** The lease, as its task uses it. Its functions throw when the lease is over. */
export type Lease = {
  readonly assignment: Assignment;
  readonly stage: (stage: TaskStage) => void;
  readonly sleep: (ms: number) => Promise<void>;
  /** Returns the body of the accepted response. */
  readonly post: (verb: "uploads" | "scratch" | "outputs", body: object) => Promise<unknown>;
  /** Stores an object or a part. */
  readonly put: (signed: string, sizeBytes: number) => unknown;
};

const SMALL_BYTES = 20_000;
/** Time of the PUTs of a file. */
const PUT_MS = 400;
const MAX_UPLOAD_REQUESTS = 20;
/** The duration of a segment of a stream. */
export const SEGMENT_S = 6;

/** Does a task; returns its node's final report. */
export async function doTask(lease: Lease, workload: Workload): Promise<TaskResult> {
  const { task } = lease.assignment;
  switch (task.kind) {
    case "inspect":
      return inspect(lease, workload, task);
    case "encode":
      return encode(lease, workload, task);
    case "chunk": {
      await readRanges(lease);
      lease.stage("encoding");
      await lease.sleep(workload.chunkMs);
      lease.stage("uploading");
      const tracks = task.outputs.map(({ index }) => ({ output: index, track: "v", frames: task.chunk.frames }));
      return {
        kind: "chunk",
        tracks: await putTracks(lease, tracks),
        encoder: "libx264 7.0",
        encodeMs: workload.chunkMs,
      };
    }
    case "audio":
    case "texts": {
      await readRanges(lease);
      lease.stage("encoding");
      await lease.sleep(workload.chunkMs);
      lease.stage("uploading");
      const tracks = task.outputs.map(({ index }) => ({ output: index, track: "audio", frames: null }));
      return { kind: task.kind, tracks: await putTracks(lease, tracks) };
    }
    case "join": {
      const names = [...task.chunks.flatMap(({ tracks }) => tracks), ...task.audio].map(({ name }) => name);
      for (let at = 0; at < names.length; at += 200)
        await lease.post("scratch", { puts: [], gets: names.slice(at, at + 200) });
      lease.stage("encoding");
      await lease.sleep(workload.joinMs);
      lease.stage("uploading");
      const outputs: OutputReport[] = [];
      for (const spec of task.outputs) outputs.push(await storeOutput(lease, spec, workload, task.probe));
      const frames = task.chunks.reduce((sum, { range }) => sum + range.frames, 0);
      const boundaries = { framesPlanned: frames, framesJoined: frames, largestErrorUs: 0, videoOverAudioMs: 0 };
      return { kind: "join", outputs, boundaries };
    }
    default:
      throw new Error("Not a kind of task");
  }
}

async function inspect(lease: Lease, workload: Workload, task: TaskOf<"inspect">): Promise<TaskResult> {
  const probe = probeOf(workload.seconds);
  if (!task.chunking) return { kind: "inspect", probe };
  const folder = folderOf(lease.assignment);
  await storeScratch(lease, [{ name: `${folder}source-1`, sizeBytes: 1_000_000 }]);
  return { kind: "inspect", probe, chunking: chunkingOf(workload.seconds, folder) };
}

async function encode(lease: Lease, workload: Workload, task: TaskOf<"encode">): Promise<TaskResult> {
  const images = task.outputs.filter(({ type }) => type === "image");
  const streams = task.outputs.filter(({ type }) => type === "httpstream");
  const ordered = [...images, ...task.outputs.filter(({ type }) => type === "video"), ...streams];
  let left = ordered.length;
  const rest: OutputReport[] = [];
  const deliver = async (spec: OutputSpec): Promise<void> => {
    const report = await storeOutput(lease, spec, workload, task.probe);
    left -= 1;
    if (left === 0) rest.push(report);
    else await lease.post("outputs", { outputs: [report] });
  };
  lease.stage("encoding");
  await lease.sleep(workload.encodeMs / 10);
  for (const spec of images) await deliver(spec);
  if (left > 0) await encodeVideos(lease, streams, workload);
  lease.stage("uploading");
  for (const spec of ordered.slice(images.length)) await deliver(spec);
  return { kind: "encode", outputs: rest };
}

/** Segments of streams are stored while they are made. */
async function encodeVideos(lease: Lease, streams: readonly OutputSpec[], workload: Workload): Promise<void> {
  const encodeMs = 0.9 * workload.encodeMs;
  if (streams.length === 0) return lease.sleep(encodeMs);
  const segments = Math.ceil(workload.seconds / SEGMENT_S);
  for (let segment = 1; segment <= segments; segment++) {
    await lease.sleep(encodeMs / segments);
    for (const { index, ...spec } of streams) {
      const variants = spec.type === "httpstream" ? spec.variants.length : 0;
      const folder = streamFolder(lease.assignment.lease, 1);
      const files = Array.from({ length: variants }, (_, at) => `hls/${folder}/${at}-${segment}.ts`);
      await upload(lease, index, files, 500_000);
    }
  }
}

async function storeOutput(
  lease: Lease,
  spec: OutputSpec,
  workload: Workload,
  probe: MediaProbe,
): Promise<OutputReport> {
  const output = spec.index;
  switch (spec.type) {
    case "video":
    case "text":
      return { status: "made", output, files: await upload(lease, output, [1], workload.videoBytes), probe };
    case "image": {
      const count = (countImageFiles(spec, probe)?.files ?? 0) + (spec.vtt ? 1 : 0);
      const names = Array.from({ length: count }, (_, at) => at + 1);
      return { status: "made", output, files: await upload(lease, output, names, SMALL_BYTES), probe: null };
    }
    default: {
      const names = playlistsOf(spec).map(({ file }) => file);
      const files = await upload(lease, output, names, SMALL_BYTES);
      return { status: "made", output, files, probe: null, packages: { hls: probe } };
    }
  }
}

/** Requests signed uploads and sends the files. */
async function upload(
  lease: Lease,
  output: number,
  files: readonly FileName[],
  sizeBytes: number,
): Promise<UploadedFile[]> {
  const wanted = { files: files.map((file) => ({ output, file, sizeBytes })) };
  let answer = (await lease.post("uploads", wanted)) as UploadsAnswer;
  // Like a real node: a storage that does not respond may be back soon.
  for (let tries = 1; "failure" in answer && tries < MAX_UPLOAD_REQUESTS; tries++) {
    await lease.sleep(PUT_MS);
    answer = (await lease.post("uploads", wanted)) as UploadsAnswer;
  }
  if ("failure" in answer) throw new Error(answer.failure.message);
  await lease.sleep(PUT_MS);
  for (const part of answer.uploads.flatMap(({ parts }) => parts)) lease.put(part.url, part.sizeBytes);
  return answer.uploads.map(({ file, parts }) => ({ output, file, sizeBytes, etags: parts.map(() => '"e"') }));
}

/** Requests the URLs of the source, unless the assignment has them. */
async function readRanges({ assignment, post }: Lease): Promise<void> {
  const { task } = assignment;
  if (!("source" in task) || task.source.from !== "scratch" || "signed" in task) return;
  await post("scratch", { puts: [], gets: task.source.pieces.map(({ name }) => name) });
}

type Track = { readonly output: number; readonly track: string; readonly frames: number | null };

/** Same as in encoder-node/workspace/scratch.ts: files have the names that were signed with the assignment. */
async function putTracks(lease: Lease, tracks: readonly Track[]) {
  const { assignment } = lease;
  const signed = "signed" in assignment.task ? (assignment.task.signed?.puts ?? []) : [];
  const folder = folderOf(assignment);
  const named = tracks.map((track, at) => ({
    ...track,
    name: signed[at]?.name ?? `${folder}${track.output}-${track.track}.mp4`,
    sizeBytes: 5_000_000,
  }));
  if (signed.length < named.length) await storeScratch(lease, named);
  else for (const { url } of signed.slice(0, named.length)) lease.put(url, 5_000_000);
  await lease.sleep(PUT_MS);
  return named;
}

async function storeScratch({ post, put }: Lease, files: readonly { name: string; sizeBytes: number }[]) {
  const puts = files.map(({ name, sizeBytes }) => ({ name, sizeBytes }));
  const answer = (await post("scratch", { puts, gets: [] })) as ScratchAnswer;
  if ("failure" in answer) throw new Error(answer.failure.message);
  for (const { url, sizeBytes } of answer.puts) put(url, sizeBytes);
}

function folderOf({ lease }: Assignment): string {
  const named = parseLeaseId(lease);
  return scratchFolder(named?.task ?? "", named?.attempt ?? 0);
}

/** ffprobe's data for this many seconds of video, 1280×720 at 25 frames per second, with audio. */
export const probeOf = (seconds: number): MediaProbe => ({
  streams: [
    {
      index: 0,
      codec_type: "video",
      codec_name: "h264",
      width: 1280,
      height: 720,
      r_frame_rate: "25/1",
      avg_frame_rate: "25/1",
      duration: `${seconds}.000000`,
      nb_frames: String(25 * seconds),
    },
    { index: 1, codec_type: "audio", codec_name: "aac", sample_rate: "48000", channels: 2, bit_rate: "128000" },
  ],
  format: { format_name: "mov,mp4,m4a,3gp,3g2,mj2", duration: `${seconds}.000000`, size: "1000000" },
});

function chunkingOf(seconds: number, folder: string): Extract<TaskResult, { kind: "inspect" }>["chunking"] & object {
  const points = Array.from({ length: seconds / 2 - 1 }, (_, at) => {
    const index = 50 * (at + 1);
    return { index, splitUs: 40_000 * index - 20_000, frameUs: 40_000 * index, keyframe: index, bytes: 1000 * index };
  });
  return {
    ok: true,
    source: { from: "scratch", pieces: [{ name: `${folder}source-1`, sizeBytes: 1_000_000 }] },
    frames: 25 * seconds,
    bytes: 25_000 * seconds,
    startUs: 0,
    endUs: 1e6 * seconds,
    longestGopMs: 2000,
    splitPoints: packSplitPoints(points),
  };
}
