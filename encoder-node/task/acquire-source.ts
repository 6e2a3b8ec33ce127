// The source of a task on this node's disk.
import { AppError } from "#shared/errors.ts";
import { isWorthRanges } from "../source/fetch/slow-transfer.ts";
import { fetchInParallel } from "../source/ranges/parallel-fetch.ts";
import { type AcquireOptions, type FetchTo, type HeldSource, LEFT, YIELDED } from "./source-cache.ts";
import type { TaskDeps } from "./task-deps.ts";

/**
 * Returns the job's source on this node's disk, and fetches it if necessary, with progress. Throws what `fetchSource`
 * throws, and AppError `turn_over` when the source is slow and other tasks wait; what has arrived is kept.
 */
export async function acquireSource(
  url: string,
  deps: TaskDeps,
  { leavesWhen }: Pick<AcquireOptions, "leavesWhen"> = {},
): Promise<HeldSource> {
  const { assignment, allowPrivate: allow, maxSourceBytes: maxBytes, yielding } = deps;
  const fetchTo: FetchTo = (destination, { signal, onProgress, ...own }) =>
    fetchInParallel({
      ...own,
      url,
      destination,
      allow,
      maxBytes,
      signal,
      onProgress: (received, total) => onProgress(total ? received / total : 0),
    });
  const onProgress = (fraction: number): void => deps.progress("transferring", fraction);
  onProgress(0);
  const signal = AbortSignal.any([deps.signal, yielding.requested]);
  // A job that is retried fetches its source again.
  const key = `${assignment.jobId}-${assignment.round}`;
  try {
    const how = { signal, onProgress, onSlow: yielding.reportSlow, leavesWhen };
    return await deps.trace.step("fetch", () => deps.sources.acquire(key, fetchTo, how));
  } catch (error) {
    if (signal.reason !== YIELDED) throw error;
    throw new AppError("turn_over", "The input is slow, and other tasks wait for the node.", { cause: error });
  }
}

/**
 * The same, or null when the rest of the source takes so long that it should be read by ranges while it is encoded, and
 * its transfer could be resumed.
 */
export async function acquireUnlessSlow(url: string, deps: TaskDeps): Promise<HeldSource | null> {
  try {
    return await acquireSource(url, deps, { leavesWhen: isWorthRanges });
  } catch (error) {
    if (error !== LEFT) throw error;
    deps.log.info("Source slow, to be read while it is encoded");
    return null;
  }
}
