// The source of an encode: on this node's disk, or read by ranges while the rest of it arrives. Its probe and its file
// are changed where this node's ffmpeg would read them in another way.
import { AppError } from "#shared/errors.ts";
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import { readsTexts } from "#shared/job/subtitles.ts";
import { planCleanCopy } from "#shared/plan/outputs/plan-clean-copy.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import type { SourceFile } from "../../source/fetch/source-file.ts";
import { checkStreams, mayBeListedOtherwise, withOwnIndexes } from "../../source/probe/check-streams.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import { readOwnFile } from "../../upload/made-file.ts";
import { runOnSource } from "../../workspace/run-planned.ts";
import type { HeldSource } from "../../workspace/source-cache.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import {
  acquireSource,
  acquireUnlessSlow,
  inWorkspace,
  type ServedSource,
  type TaskSource,
  taskSource,
  withServedSource,
} from "../../workspace/task-source.ts";

/** Releases the source when it is no longer needed: uploads continue without it. */
type Release = () => void;
type EncodeTask = TaskOf<"encode">;

/**
 * Twice the longest time that a source may seem to take (slow-transfer.ts). An encode that waits for a slower source
 * keeps its slot from other work, while a fetch gives its slot away.
 */
const ALL_MS = 30 * 60_000;

/**
 * Runs the work on an encode, in a workspace. A source that arrives slowly, and whose packets are known, is read by
 * ranges: the encode does not wait for all of it. If such a read breaks off, the whole source is fetched and the work is
 * done again. That happens with hosts whose servers identify versions differently or refuse connections. Every other
 * source is fetched first.
 */
export async function withEncodeSource<Value>(
  task: EncodeTask,
  deps: TaskDeps,
  work: (source: TaskSource, deps: TaskDeps, release: Release) => Promise<Value>,
): Promise<Value> {
  const encode = (served: ServedSource, release: Release, servedDeps: TaskDeps): Promise<Value> =>
    inWorkspace(deps.workFolder, async (folder) => {
      const indexed = await withIndexes(served, folder, task, servedDeps);
      return work(await withoutReservedMatrix(indexed, task, servedDeps), servedDeps, release);
    });
  const encodeFile = async ({ path, release }: HeldSource): Promise<Value> => {
    try {
      return await encode({ source: path }, release, deps);
    } finally {
      release();
    }
  };
  // A version other than the inspected version must arrive as a whole to be judged.
  const isInspected = ({ sizeBytes }: SourceFile): boolean => String(sizeBytes) === task.probe.format.size;
  const held = await (mayReadRanges(task) ? acquireUnlessSlow(task, deps, isInspected) : acquireSource(task, deps));
  if (!held.arriving) return encodeFile(held);
  try {
    const input = await deps.rangedSources.serve(held.arriving, { allWithinMs: ALL_MS });
    return await withServedSource(input, deps, (served, ranged) => encode(served, () => undefined, ranged));
  } catch (error) {
    deps.signal.throwIfAborted();
    if (!(error instanceof AppError) || !error.code.startsWith("input_")) throw error;
    deps.log.warn("source not readable while it is encoded", { error: error.message });
  } finally {
    held.release();
  }
  return encodeFile(await acquireSource(task, deps));
}

/**
 * MP4 has an index of all packets. A copy without a reserved color matrix needs the file. Images need a source whose
 * packets the inspection has read.
 */
function mayReadRanges({ probe, outputs }: EncodeTask): boolean {
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

/** Takes the stream indexes of this node's ffmpeg, if versions of ffmpeg may list other streams. */
async function withIndexes(
  served: ServedSource,
  folder: string,
  { probe, outputs }: EncodeTask,
  { ffmpeg, signal }: TaskDeps,
): Promise<TaskSource> {
  const indexed = mayBeListedOtherwise(probe)
    ? await withOwnIndexes(ffmpeg, served, probe, signal, countsAudio(outputs))
    : probe;
  return taskSource({ ...served, probe: indexed, folder });
}

/** Checks that this node's ffmpeg lists the same streams, if `withIndexes` has not. */
export async function verifyStreams(source: TaskSource, { ffmpeg, signal, trace }: TaskDeps): Promise<void> {
  if (mayBeListedOtherwise(source.probe)) return;
  await trace.step("probe", () => checkStreams(ffmpeg, source, source.probe, signal));
}

/** True if outputs name audio tracks of the source by their number. */
const countsAudio = (outputs: readonly OutputSpec[]): boolean =>
  outputs.some((spec) => hasTracks(spec) && spec.audioTracks !== undefined);

const CLEAN_FILE = "clean";

/**
 * Replaces a source whose video states a reserved color matrix by a copy without it. Copying takes as long as writing
 * the file.
 */
async function withoutReservedMatrix(
  original: TaskSource,
  { outputs }: EncodeTask,
  deps: TaskDeps,
): Promise<TaskSource> {
  const { probe, folder } = original;
  const run = outputs.some(needsFrames) ? planCleanCopy(original, probe, CLEAN_FILE, countsAudio(outputs)) : null;
  if (!run) return original;
  const files = await RunFiles.create(folder);
  await runOnSource(original, [run], files, deps);
  const source = files.pathOf(CLEAN_FILE);
  const cleanProbe = await readOwnFile(probeSource(deps.ffprobe, source, deps.signal));
  return taskSource({ source, probe: cleanProbe, folder });
}

/** True if an output is more than a copy of the video. */
const needsFrames = (spec: OutputSpec): boolean =>
  spec.type !== "video" || (spec.video !== null && spec.video.codec !== "copy");
