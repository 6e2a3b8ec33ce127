// Fetches a source to disk like fetch-source.ts, and over several connections when a single connection is slow.
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "#shared/errors.ts";
import { type Fetch, newResumeState, type ResumeState } from "../fetch/fetch-options.ts";
import { fetchSource } from "../fetch/fetch-source.ts";
import { checkDiskSpace, diskFailure, writeAt } from "../fetch/source-disk.ts";
import { DEFAULT_TIMEOUTS, watchTime } from "../fetch/source-timeouts.ts";
import { validForMs } from "../fetch/url-validity.ts";
import { isWorthMore, twoConnections } from "./connection-count.ts";
import { describeSource } from "./describe-source.ts";
import { HttpRangeReader } from "./range-reader.ts";
import { RestOfFile } from "./rest-of-file.ts";

/** Duration of the measurement of a single connection, in ms. */
const MEASURED_MS = 1000;
/** Bytes between two checks of the disk space: other processes write to the disk too. */
const DISK_CHECK_BYTES = 16 * 1024 * 1024;

const SLOW = "slow";

/**
 * Downloads a source like `fetchSource`, with the same result and errors. If the host supports ranges and a single
 * connection would take some seconds more, tries several connections, and keeps as many as help (connection-count.ts).
 * Each connection that the host refuses or breaks halves their number, down to a single connection. The bytes that have
 * arrived are always the start of the file, for `onProgress` and `resume`.
 */
export async function fetchInParallel(fetch: Fetch, measuredMs = MEASURED_MS): Promise<{ sizeBytes: number }> {
  const resume = fetch.resume ?? newResumeState();
  const alone = { ...fetch, resume };
  const rate = await fetchUntilSlow(alone, measuredMs);
  if (rate === null) return { sizeBytes: resume.received };
  try {
    await fetchRest(alone, rate);
  } catch (error) {
    fetch.signal.throwIfAborted();
    // Errors of the node itself. After other errors a single connection may still reach the host.
    if (!(error instanceof AppError) || !error.code.startsWith("input_")) throw error;
  }
  return resume.received === resume.totalBytes ? { sizeBytes: resume.received } : await fetchSource(alone);
}

type Resumed = Fetch & { readonly resume: ResumeState };

/**
 * Returns null when the file is complete; otherwise the rate of the slow connection in bytes per second. The connection
 * is given up only after the host has responded to a second request beside it: some URLs allow a single request.
 */
async function fetchUntilSlow(fetch: Resumed, measuredMs: number): Promise<number | null> {
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
  let rate = 0;
  const watch = (received: number, totalBytes: number | null): void => {
    onProgress?.(received, totalBytes);
    const tookMs = performance.now() - since;
    if (tookMs < measuredMs && received >= from) return;
    rate = ((received - from) * 1000) / tookMs;
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
    return null;
  } catch (error) {
    fetch.signal.throwIfAborted();
    if (error !== SLOW) throw error;
    return rate;
  } finally {
    slow.abort();
  }
}

/** Fetches the rest over several connections, as long as they help. */
async function fetchRest(fetch: Resumed, rate: number): Promise<void> {
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
  const onFailure = (failure: AppError): void => rest.failed(failure);
  const pieces = [{ url, secretHeaders, sizeBytes, validator }];
  const reader = new HttpRangeReader({ pieces, allow, timeouts, onFailure });
  const rest = new RestOfFile({
    from,
    sizeBytes,
    reader,
    signal,
    connections: twoConnections(rate),
    write: async (bytes, position) => {
      await writeAt(file, bytes, position);
      missing = Math.max(0, missing - bytes.length);
      unchecked += bytes.length;
      if (unchecked >= DISK_CHECK_BYTES) {
        unchecked = 0;
        await checkDisk();
      }
      checkTime(new URL(url).host);
    },
    onPrefix: (received) => {
      resume.received = received;
      onProgress?.(received, sizeBytes);
    },
  });
  try {
    await rest.run();
  } finally {
    resume.spentMs += performance.now() - startedAt;
    disk?.endReservation();
    await reader.close();
    await file.close();
  }
}
