// Reads the source of a task by ranges, at its origin or in the scratch bucket.
import { isDeepStrictEqual } from "node:util";
import { AppError } from "#shared/errors.ts";
import { isFolderUrl } from "#shared/job/folder-url.ts";
import { messageOf } from "#shared/log.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { RunInputs } from "#shared/plan/runs/plan-run.ts";
import type { LocatedSource, TaskOf } from "#shared/protocol/tasks.ts";
import type { LoopbackNetwork } from "../ffmpeg/sandbox/loopback-network.ts";
import { linkSource } from "../folders/link-source.ts";
import { RANGE_INPUT_OPTIONS, type RangeInput } from "../source/ranges/range-proxy.ts";
import { scratchUrls } from "./scratch.ts";
import type { LocateSource } from "./source-cache.ts";
import type { TaskDeps } from "./task-deps.ts";
import { inWorkspace } from "./workspace.ts";

/** A source that is read by ranges in `network`, or is a local file without `loopbackOptions`, as the planner takes it. */
export type ServedSource = Pick<RunInputs, "source" | "loopbackOptions"> & { readonly network?: LoopbackNetwork };

/** A source, its probe, and the workspace of the task that reads it. */
export type WorkSource = ServedSource & { readonly probe: MediaProbe; readonly folder: string };

type RangedTask = Pick<TaskOf<"audio">, "source" | "probe" | keyof LocatedSource>;

/**
 * Runs work that reads the source of a task, in a workspace. The signal in its deps aborts when reading the
 * source fails. That failure is thrown: the result of ffmpeg for an incomplete source is useless.
 */
export function withRangedSource<Value>(
  task: RangedTask,
  deps: TaskDeps,
  work: (source: WorkSource, deps: TaskDeps) => Promise<Value>,
): Promise<Value> {
  return inWorkspace(deps.workFolder, async (folder) => {
    const { probe } = task;
    const read = (served: ServedSource, readDeps: TaskDeps): Promise<Value> =>
      work({ ...served, probe, folder }, readDeps);
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
