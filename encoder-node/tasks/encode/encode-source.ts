// Chooses where an encode reads its source: on this node's disk, or by ranges while the rest of the source arrives.
import { AppError } from "#shared/errors.ts";
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import { readsTexts } from "#shared/job/subtitles.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import type { SourceFile } from "../../source/fetch/source-file.ts";
import { acquireSource, acquireUnlessSlow } from "../../workspace/acquire-source.ts";
import type { HeldSource } from "../../workspace/source-cache.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { type ServedSource, withServedSource } from "../../workspace/task-source.ts";

/** A source as runs of ffmpeg read it. */
export type EncodeSource = ServedSource & {
  /** Releases the source when it is no longer needed: uploads continue without it. */
  release(): void;
};

/**
 * Twice the longest time that a source may seem to take (slow-transfer.ts). An encode that waits for a slower source
 * keeps its slot from other work, while a fetch gives its slot away.
 */
const ALL_MS = 30 * 60_000;

/**
 * Runs the work on an encode. A source that arrives slowly, and whose packets are known, is read by ranges: the encode
 * does not wait for all of it. If such a read breaks off, the whole source is fetched and the work is done again. That
 * happens with hosts whose servers identify versions differently or refuse connections. Every other source is fetched
 * first.
 */
export async function withEncodeSource<Value>(
  task: TaskOf<"encode">,
  deps: TaskDeps,
  work: (source: EncodeSource, deps: TaskDeps) => Promise<Value>,
): Promise<Value> {
  const { probe } = task;
  if (!mayReadRanges(task)) return withFile(await acquireSource(task, deps), deps, work);
  // A version other than the inspected version must arrive as a whole to be judged.
  const isInspected = ({ sizeBytes }: SourceFile): boolean => String(sizeBytes) === probe.format.size;
  const held = await acquireUnlessSlow(task, deps, isInspected);
  if (!held.arriving) return withFile(held, deps, work);
  try {
    const input = await deps.rangedSources.serve(held.arriving, { allWithinMs: ALL_MS });
    return await withServedSource(input, deps, (served, ranged) =>
      work({ ...served, release: () => undefined }, ranged),
    );
  } catch (error) {
    deps.signal.throwIfAborted();
    if (!(error instanceof AppError) || !error.code.startsWith("input_")) throw error;
    deps.log.warn("source not readable while it is encoded", { error: error.message });
  } finally {
    held.release();
  }
  return withFile(await acquireSource(task, deps), deps, work);
}

/** Releases the source at the end of the work, unless the work has released it. */
async function withFile<Value>(
  { path, release }: HeldSource,
  deps: TaskDeps,
  work: (source: EncodeSource, deps: TaskDeps) => Promise<Value>,
): Promise<Value> {
  try {
    return await work({ source: path, release }, deps);
  } finally {
    release();
  }
}

/**
 * MP4 has an index of all packets. A copy without a reserved color matrix (encode.ts) needs the file. Images need a
 * source whose packets the inspection has read.
 */
function mayReadRanges({ probe, outputs }: TaskOf<"encode">): boolean {
  if (!probe.format.format_name?.split(",").includes("mp4")) return false;
  const { video } = chooseTracks(probe);
  return video?.lengthFrom === "packets" && !video.hasReservedMatrix && outputs.every(needsNoFile);
}

/**
 * A search for a rate factor seeks in all of the source. Measurements of loudness and quality read the source twice.
 * The text of a stream is read before its video.
 */
function needsNoFile(spec: OutputSpec): boolean {
  if (spec.type === "text" || readsTexts(spec)) return false;
  if (!hasTracks(spec)) return true;
  if (spec.measuresQuality || spec.loudness) return false;
  const videos = spec.type === "video" ? [spec.video] : spec.variants.map(({ video }) => video);
  return !videos.some((video) => video !== null && "rate" in video && "vmaf" in video.rate);
}
