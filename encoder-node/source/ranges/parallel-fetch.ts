// Fetches a source to disk like fetch-source.ts, and over several connections when a single connection is slow.
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "#shared/errors.ts";
import { mapLimitedOrAbort } from "../../async/in-parallel.ts";
import { type Fetch, newResumeState, type ResumeState } from "../fetch/fetch-options.ts";
import { fetchSource } from "../fetch/fetch-source.ts";
import { checkDiskSpace, diskFailure, writeAt } from "../fetch/source-disk.ts";
import { DEFAULT_TIMEOUTS, watchTime } from "../fetch/source-timeouts.ts";
import { validForMs } from "../fetch/url-validity.ts";
import { describeSource } from "./describe-source.ts";
import { HttpRangeReader, type WriteBytes } from "./range-reader.ts";

/** Duration of the measurement of a single connection, in ms. */
const MEASURED_MS = 1000;
/** Bytes between two checks of the disk space: other processes write to the disk too. */
const DISK_CHECK_BYTES = 16 * 1024 * 1024;

/** Connections of browsers to a host. */
const CONNECTIONS = 6;
/** Large enough that the pause between two requests hardly matters, small enough that little is ahead of the prefix. */
const PART_BYTES = 8 * 1024 * 1024;
/** More connections are worth it only if a single connection needs at least this long for the rest. */
const LONG_MS = 3000;
/** A smaller rest arrives before other connections would be of use. */
const LEAST_BYTES = 16 * 1024 * 1024;

const SLOW = "slow";

/**
 * Downloads a source like `fetchSource`, with the same result and errors. If the host supports ranges and a single
 * connection would take some seconds more, uses several connections, or as many as the host accepts. The bytes that
 * have arrived are always the start of the file, for `onProgress` and `resume`.
 */
export async function fetchInParallel(fetch: Fetch, measuredMs = MEASURED_MS): Promise<{ sizeBytes: number }> {
  const resume = fetch.resume ?? newResumeState();
  const alone = { ...fetch, resume };
  if (await fetchedUntilSlow(alone, measuredMs)) return { sizeBytes: resume.received };
  try {
    await fetchRest(alone);
  } catch (error) {
    fetch.signal.throwIfAborted();
    // Errors of the node itself. After other errors a single connection may still reach the host.
    if (!(error instanceof AppError) || !error.code.startsWith("input_")) throw error;
  }
  return resume.received === resume.totalBytes ? { sizeBytes: resume.received } : await fetchSource(alone);
}

type Resumed = Fetch & { readonly resume: ResumeState };

/**
 * Returns true when the file is complete, false when its connection is slow. The connection is given up only after the
 * host has responded to a second request beside it: some URLs allow a single request.
 */
async function fetchedUntilSlow(fetch: Resumed, measuredMs: number): Promise<boolean> {
  const { url, secretHeaders, allow, resume, onProgress, timeouts = DEFAULT_TIMEOUTS } = fetch;
  const slow = new AbortController();
  let hasAsked = false;
  const askAgain = async (): Promise<void> => {
    const signal = AbortSignal.any([fetch.signal, slow.signal]);
    const piece = await describeSource({ url, secretHeaders, allow, stallMs: timeouts.stallMs, signal }).catch(
      () => null,
    );
    if (piece?.sizeBytes === resume.totalBytes && piece?.validator === resume.validator) slow.abort(SLOW);
  };
  let since = performance.now();
  let from = resume.received;
  const watch = (received: number, totalBytes: number | null): void => {
    onProgress?.(received, totalBytes);
    const tookMs = performance.now() - since;
    if (tookMs < measuredMs && received >= from) return;
    const rate = ((received - from) * 1000) / tookMs;
    [since, from] = [performance.now(), received];
    const canSplit = resume.canResume && totalBytes !== null && rate > 0;
    if (!canSplit) return;
    const valid = validForMs(url, Date.now());
    if (!isWorthMore({ bytesPerSecond: rate, remainingBytes: totalBytes - received, validForMs: valid })) return;
    if (!hasAsked) void askAgain();
    hasAsked = true;
  };
  try {
    await fetchSource({ ...fetch, onProgress: watch, signal: AbortSignal.any([fetch.signal, slow.signal]) });
    return true;
  } catch (error) {
    fetch.signal.throwIfAborted();
    if (error !== SLOW) throw error;
    return false;
  } finally {
    slow.abort();
  }
}

export type Transfer = {
  readonly bytesPerSecond: number;
  readonly remainingBytes: number;
  /** Time until the host refuses further requests (url-validity.ts). */
  readonly validForMs: number;
};

/**
 * True if several connections may shorten a transfer noticeably. A running request may continue after its URL has
 * expired, but new requests may not start. Even if several connections are not faster, they must finish within half of
 * the URL's validity.
 */
export function isWorthMore({ bytesPerSecond, remainingBytes, validForMs }: Transfer): boolean {
  const aloneMs = (remainingBytes * 1000) / bytesPerSecond;
  return remainingBytes >= LEAST_BYTES && aloneMs > LONG_MS && !(2 * aloneMs > validForMs);
}

/** Fetches the rest over several connections, in parts, from the front. */
async function fetchRest(fetch: Resumed): Promise<void> {
  const { url, secretHeaders, destination, resume, allow, signal, timeouts, onProgress, disk, freeSpace } = fetch;
  const { totalBytes: sizeBytes, validator, received: from } = resume;
  if (sizeBytes === null || validator === null) return;
  const startedAt = performance.now();
  const checkTime = watchTime(timeouts ?? DEFAULT_TIMEOUTS, resume.spentMs);
  let missing = sizeBytes - from;
  let unchecked = 0;
  const checkDisk = (): Promise<void> =>
    disk ? disk.reserve(missing) : checkDiskSpace(dirname(destination), missing, freeSpace);
  await checkDisk();
  const file = await open(destination, "r+", 0o600).catch(diskFailure);
  const reader = new HttpRangeReader({ pieces: [{ url, secretHeaders, sizeBytes, validator }], allow, timeouts });
  const write: WriteBytes = async (bytes, position) => {
    await writeAt(file, bytes, position);
    missing = Math.max(0, missing - bytes.length);
    unchecked += bytes.length;
    if (unchecked >= DISK_CHECK_BYTES) {
      unchecked = 0;
      await checkDisk();
    }
    checkTime(new URL(url).host);
  };
  const starts = Array.from({ length: Math.ceil((sizeBytes - from) / PART_BYTES) }, (_, at) => from + at * PART_BYTES);
  /** Ends of finished parts by their start. */
  const ends = new Map<number, number>();
  try {
    await mapLimitedOrAbort(starts, CONNECTIONS, signal, async (start, _, stopped) => {
      const end = Math.min(start + PART_BYTES, sizeBytes);
      await reader.read({ start, end: end - 1 }, write, stopped);
      ends.set(start, end);
      for (let next = ends.get(resume.received); next !== undefined; next = ends.get(next)) resume.received = next;
      onProgress?.(resume.received, sizeBytes);
    });
  } finally {
    resume.spentMs += performance.now() - startedAt;
    disk?.endReservation();
    await reader.close();
    await file.close();
  }
}
