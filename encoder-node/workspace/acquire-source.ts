// The source of a task on this node's disk.
import { isFolderUrl } from "#shared/job/folder-url.ts";
import type { LocatedSource } from "#shared/protocol/tasks.ts";
import { linkSource } from "../folders/link-source.ts";
import { isWorthRanges, type TransferState } from "../source/fetch/slow-transfer.ts";
import { validForMs } from "../source/fetch/url-validity.ts";
import { describeSource } from "../source/ranges/describe-source.ts";
import { fetchInParallel } from "../source/ranges/parallel-fetch.ts";
import type { SourcePiece } from "../source/ranges/source-pieces.ts";
import { type AcquireOptions, type FetchTo, type HeldSource, TRANSFER_ABANDONED } from "./source-cache.ts";
import type { TaskDeps } from "./task-deps.ts";

export type SourceDeps = Pick<
  TaskDeps,
  | "assignment"
  | "allowSource"
  | "maxSourceBytes"
  | "sources"
  | "signal"
  | "progress"
  | "trace"
  | "log"
  | "folders"
  | "workFolder"
>;

/** Time limit for the source's host to respond to a range request. */
const STALL_MS = 30_000;

/**
 * Returns the job's source on this node's disk. Fetches the source if necessary, with progress. A source in a folder of
 * the operator stays there. Throws as `fetchSource` and `linkSource`.
 */
export async function acquireSource(
  { sourceUrl: url, sourceHeaders: secretHeaders }: LocatedSource,
  deps: SourceDeps,
  { abandonWhen }: Pick<AcquireOptions, "abandonWhen"> = {},
): Promise<HeldSource> {
  const { assignment, allowSource: allow, maxSourceBytes: maxBytes } = deps;
  const fetchTo: FetchTo = (destination, { signal, onProgress, ...options }) =>
    fetchInParallel({
      ...options,
      url,
      secretHeaders,
      destination,
      allow,
      maxBytes,
      signal,
      onProgress: (received, total) => onProgress(total ? received / total : 0),
    });
  const onProgress = (fraction: number): void => deps.progress("transferring", fraction);
  onProgress(0);
  if (isFolderUrl(url)) return deps.trace.step("fetch", () => linkSource(url, deps));
  // A retried job fetches its source again.
  const key = `${assignment.jobId}-${assignment.round}`;
  const how = { signal: deps.signal, onProgress, abandonWhen };
  return deps.trace.step("fetch", () => deps.sources.acquire(key, fetchTo, how));
}

/**
 * Like `acquireSource`, but may return a source to read by ranges during the encode. That requires that the rest of the
 * source takes long, that its transfer could be resumed, and that `mayRead` allows it. The transfer is left only after
 * its host has responded to a second concurrent request: some URLs work for a single request, and some hosts allow a
 * single connection.
 */
export async function acquireUnlessSlow(
  located: LocatedSource,
  deps: SourceDeps,
  mayRead: (piece: SourcePiece) => boolean = () => true,
): Promise<HeldSource | { readonly ranges: SourcePiece }> {
  const { sourceUrl: url, sourceHeaders: secretHeaders } = located;
  const { allowSource: allow } = deps;
  const ended = new AbortController();
  const signal = AbortSignal.any([deps.signal, ended.signal]);
  let hasAsked = false;
  const described: { ranges: SourcePiece | null } = { ranges: null };
  const ask = async (): Promise<void> => {
    const piece = await describeSource({ url, secretHeaders, allow, stallMs: STALL_MS, signal }).catch(() => null);
    if (piece && mayRead(piece)) described.ranges = piece;
  };
  const abandonWhen = (transfer: TransferState): boolean => {
    if (!isWorthRanges(transfer, validForMs(url, Date.now()))) return false;
    if (!hasAsked) void ask();
    hasAsked = true;
    return described.ranges !== null;
  };
  try {
    return await acquireSource(located, deps, { abandonWhen });
  } catch (error) {
    const { ranges } = described;
    if (error !== TRANSFER_ABANDONED || !ranges) throw error;
    deps.log.info("slow source read while it is encoded");
    return { ranges };
  } finally {
    ended.abort();
  }
}
