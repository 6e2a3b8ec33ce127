// The source of a task: on this node's disk, in a folder of the operator, or read by ranges at its origin or in the
// scratch bucket.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { AppError } from "#shared/errors.ts";
import { isFolderUrl } from "#shared/job/folder-url.ts";
import { messageOf } from "#shared/log.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { RunInputs } from "#shared/plan/runs/plan-run.ts";
import { chooseTracks, type SourceTracks } from "#shared/plan/source/source-tracks.ts";
import type { LocatedSource, TaskOf } from "#shared/protocol/tasks.ts";
import type { LoopbackNetwork } from "../ffmpeg/sandbox/loopback-network.ts";
import { linkSource } from "../folders/open-source.ts";
import { isWorthRanges } from "../source/fetch/slow-transfer.ts";
import type { SourceFile } from "../source/fetch/source-file.ts";
import { RANGE_INPUT_OPTIONS, type RangeInput } from "../source/ranges/range-proxy.ts";
import { scratchUrls } from "./scratch.ts";
import type { AcquireOptions, HeldFile, HeldSource, LocateSource, OpenOptions } from "./source-cache.ts";
import type { TaskDeps } from "./task-deps.ts";

/** A source that is read by ranges in `network`, or is a local file without `loopbackOptions`, as the planner takes it. */
export type ServedSource = Pick<RunInputs, "source" | "loopbackOptions"> & { readonly network?: LoopbackNetwork };

/** A source with its probe and tracks, and the workspace of the task that reads it. Made once, when the task starts. */
export type TaskSource = ServedSource & {
  readonly probe: MediaProbe;
  readonly tracks: SourceTracks;
  readonly folder: string;
};

export const taskSource = (source: Omit<TaskSource, "tracks">): TaskSource => ({
  ...source,
  tracks: chooseTracks(source.probe),
});

/** Runs work in a new, empty folder below `parent`, and always removes the folder afterwards. */
export async function inWorkspace<Value>(parent: string, work: (folder: string) => Promise<Value>): Promise<Value> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(parent, "w-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

// Sources on this node's disk.

/** A retried job fetches its source again. */
const keyOf = ({ assignment: { jobId, round } }: TaskDeps): string => `${jobId}-${round}`;

function optionsOf({ sourceUrl: url, sourceHeaders: secretHeaders }: LocatedSource, deps: TaskDeps): OpenOptions {
  const pieces = [{ url, secretHeaders, sizeBytes: null }];
  return { locate: async () => pieces, allow: deps.allowSource, maxBytes: deps.maxSourceBytes };
}

/** The file of the job's source, as far as it has arrived. */
export const openSource = (located: LocatedSource, deps: TaskDeps): Promise<HeldFile> =>
  deps.sources.open(keyOf(deps), optionsOf(located, deps));

/**
 * Returns the job's source on this node's disk. Fetches the source if necessary, with progress. A source in a folder of
 * the operator stays there. Throws as `SourceCache.acquire` and `linkSource`.
 */
export async function acquireSource(
  located: LocatedSource,
  deps: TaskDeps,
  startsEarly?: AcquireOptions["startsEarly"],
): Promise<HeldSource> {
  const onProgress = (fraction: number): void => deps.progress("transferring", fraction);
  onProgress(0);
  if (isFolderUrl(located.sourceUrl)) return deps.trace.step("fetch", () => linkSource(located.sourceUrl, deps));
  const how = { signal: deps.signal, onProgress, startsEarly };
  return deps.trace.step("fetch", () => deps.sources.acquire(keyOf(deps), optionsOf(located, deps), how));
}

/**
 * Like `acquireSource`, but may return a source whose rest still arrives. That requires that the rest takes long, that
 * its host has responded to a second concurrent request, and that `mayStart` allows it: some URLs work for a single
 * request, and some hosts allow a single connection.
 */
export async function acquireUnlessSlow(
  located: LocatedSource,
  deps: TaskDeps,
  mayStart: (file: SourceFile) => boolean = () => true,
): Promise<HeldSource> {
  const startsEarly = (file: SourceFile): boolean =>
    file.hasRanges && isWorthRanges(file.transfer, file.validForMs) && mayStart(file);
  const source = await acquireSource(located, deps, startsEarly);
  if (source.arriving) deps.log.info("work started on a slow source before all of it has arrived");
  return source;
}

// Sources that are read by ranges.

type RangedTask = Pick<TaskOf<"audio">, "source" | "probe" | keyof LocatedSource>;

/**
 * Runs work that reads the source of a task, in a workspace. The signal in its deps aborts when reading the
 * source fails. That failure is thrown: the result of ffmpeg for an incomplete source is useless.
 */
export function withRangedSource<Value>(
  task: RangedTask,
  deps: TaskDeps,
  work: (source: TaskSource, deps: TaskDeps) => Promise<Value>,
): Promise<Value> {
  return inWorkspace(deps.workFolder, async (folder) => {
    const { probe } = task;
    const read = (served: ServedSource, readDeps: TaskDeps): Promise<Value> =>
      work(taskSource({ ...served, probe, folder }), readDeps);
    if (task.source.from === "origin" && isFolderUrl(task.sourceUrl)) return withLinkedSource(task, deps, read);
    const input = await openRangedSource(task, deps);
    return withServedSource(input, deps, read, (reason) => sourceFailure(task, reason));
  });
}

/** Like `withRangedSource`, for an opened view of a source, which is closed afterwards. */
export async function withServedSource<Value>(
  { failed, url: source, network, close }: RangeInput,
  deps: TaskDeps,
  work: (served: ServedSource, deps: TaskDeps) => Promise<Value>,
  failureOf: (reason: unknown) => unknown = (reason) => reason,
): Promise<Value> {
  try {
    const rangedDeps = { ...deps, signal: AbortSignal.any([deps.signal, failed]) };
    return await work({ source, loopbackOptions: RANGE_INPUT_OPTIONS, network }, rangedDeps);
  } catch (error) {
    deps.signal.throwIfAborted();
    throw failed.aborted ? failureOf(failed.reason) : error;
  } finally {
    close();
  }
}

/** Throws as `linkSource`, and AppError `input_unreachable` for another version than the inspected version. */
async function withLinkedSource<Value>(
  { sourceUrl, source }: RangedTask,
  deps: TaskDeps,
  work: (served: ServedSource, deps: TaskDeps) => Promise<Value>,
): Promise<Value> {
  const { path, origin, release } = await linkSource(sourceUrl, deps);
  try {
    if (!isDeepStrictEqual(origin, source))
      throw new AppError("input_unreachable", "The file of the input has changed.");
    return await work({ source: path }, deps);
  } finally {
    release();
  }
}

/** Opens a view of the source. The caller closes it. */
export function openRangedSource(task: RangedTask, deps: TaskDeps): Promise<RangeInput> {
  const { source, sourceUrl: url, sourceHeaders: secretHeaders } = task;
  const locate: LocateSource = async () => {
    if (source.from === "origin") {
      return [{ url, secretHeaders, sizeBytes: source.sizeBytes, validator: source.validator ?? null }];
    }
    const names = source.pieces.map(({ name }) => name);
    const urls = await scratchUrls(names, deps);
    return source.pieces.map(({ sizeBytes }, at) => ({ url: urls[at] ?? "", sizeBytes }));
  };
  // A retried job may have another source: the names of the pieces, or size and version, distinguish the two.
  return deps.rangedSources.open(JSON.stringify([deps.assignment.jobId, source]), {
    locate,
    allow: source.from === "origin" ? deps.allowSource : deps.service.allow,
    maxBytes: deps.maxSourceBytes,
  });
}

/** A failure of the operator's bucket is not the fault of the client's source. */
const sourceFailure = ({ source }: RangedTask, reason: unknown): unknown =>
  source.from === "origin"
    ? reason
    : new AppError("node_failed", `The scratch copy of the input cannot be read: ${messageOf(reason)}`, {
        cause: reason,
      });
