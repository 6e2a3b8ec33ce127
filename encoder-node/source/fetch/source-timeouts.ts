// Timeouts, minimum rates and retries of source transfers.
import { type BackoffPolicy, backoffMs } from "#shared/backoff.ts";
import { type AppError, errorTraits } from "#shared/errors.ts";
import { FinalFailure, HttpStatusFailure, tooSlow } from "./source-failure.ts";

export type SourceTimeouts = {
  /** Longest silence of a server. */
  readonly stallMs: number;
  readonly backoff: BackoffPolicy;
  /** The minimum of bytes in each time window; a window with fewer ends the attempt. */
  readonly minimumRate?: MinimumRate;
  /** Time limit of a whole file, all attempts together. */
  readonly limitMs?: number;
};
export type MinimumRate = { readonly bytes: number; readonly windowMs: number };

export const DEFAULT_TIMEOUTS: SourceTimeouts = { stallMs: 30_000, backoff: { firstMs: 500, maxMs: 10_000 } };
/**
 * About 140 kbit/s: a slower source would occupy its slot forever. Several transfers that share a slow connection are
 * each faster than this rate.
 */
const MINIMUM_RATE: MinimumRate = { bytes: 1024 * 1024, windowMs: 60_000 };
/** The lifetime of the signed URL of a source in a bucket (worker/storage/source-url.ts). */
export const LIMIT_MS = 12 * 60 * 60 * 1000;

/** Connections to the host of a source, for all its ranges together. */
export const MAX_CONNECTIONS = 8;
/** Retries in a row, for a server that has responded before, and for a server that never has. */
const RETRIES = 5;
const RETRIES_WITHOUT_RESPONSE = 1;
/** Maximum delay by `Retry-After`: the source occupies its slot meanwhile. */
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * True if a retry is allowed after `failures` failures in a row. `hasResponded`: the server has sent some of the
 * source.
 */
export function canRetry(failure: AppError, failures: number, hasResponded: boolean): boolean {
  const { retry, blame } = errorTraits(failure.code);
  if (retry !== "now" || blame !== "source" || failure instanceof FinalFailure) return false;
  return failures <= (hasResponded || failure instanceof HttpStatusFailure ? RETRIES : RETRIES_WITHOUT_RESPONSE);
}

/** Delay before the retry in ms: at least the server's `Retry-After`, within limits. */
export function pauseMs(failure: AppError, failures: number, { backoff }: SourceTimeouts): number {
  const retryAfterMs = failure instanceof HttpStatusFailure ? (failure.retryAfterMs ?? 0) : 0;
  return Math.max(backoffMs(failures, backoff, Math.random), Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}

/**
 * Watches a response body. Call the result for all bytes that arrive: it throws AppError `input_timeout` when they are
 * too few. `isPart`: other parts of the source share the connection to the host.
 */
export function watchRate(
  { minimumRate: { bytes: ofSource, windowMs } = MINIMUM_RATE }: SourceTimeouts,
  host: string,
  isPart = false,
): (bytes: number) => void {
  const minimumRate = { bytes: isPart ? ofSource / MAX_CONNECTIONS : ofSource, windowMs };
  let since = performance.now();
  let inWindow = 0;
  return (bytes) => {
    inWindow += bytes;
    if (performance.now() - since < minimumRate.windowMs) return;
    if (inWindow < minimumRate.bytes) throw tooSlow(host, minimumRate);
    since = performance.now();
    inWindow = 0;
  };
}
