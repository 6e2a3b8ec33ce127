// How long a source is waited for: what may stand still, how slowly it may come, what is tried again and when.
import { type BackoffPolicy, backoffMs } from "#shared/backoff.ts";
import { type AppError, errorTraits } from "#shared/errors.ts";
import { DeadEnd, HttpRefusal, tooLong, tooSlow } from "./source-failure.ts";

export type Patience = {
  /** How long a server may send nothing. */
  readonly stallMs: number;
  readonly backoff: BackoffPolicy;
  /** The least that each window must bring; one that brings less ends the try. */
  readonly least?: LeastRate;
  /** How long a whole file may take, all tries together. */
  readonly limitMs?: number;
  readonly slow?: SlowRate;
};
/** Who is slower than this in windows of so long, for so long in all, gives way to others (`onSlow`). */
export type SlowRate = { readonly bytesPerSecond: number; readonly windowMs: number; readonly budgetMs: number };
export type LeastRate = { readonly bytes: number; readonly windowMs: number };

export const PATIENCE: Patience = { stallMs: 30_000, backoff: { firstMs: 500, maxMs: 10_000 } };
/**
 * Some 140 kbit/s: a source that comes in drops would hold its slot for ever. A slow line that several fetches share brings
 * more than that to each.
 */
const LEAST: LeastRate = { bytes: 1024 * 1024, windowMs: 60_000 };
/** As long as the address of a source in a bucket is signed for (worker/storage/source-url.ts). */
const LIMIT_MS = 12 * 60 * 60 * 1000;

/** A transfer that brings less keeps its slot for minutes of nothing but waiting. */
const SLOW: SlowRate = { bytesPerSecond: 1024 * 1024, windowMs: 10_000, budgetMs: 5 * 60_000 };

/** Tries after the first, in a row, of a source whose server has answered, and of one that never has. */
const RETRIES = 5;
const RETRIES_UNSEEN = 1;
/** The longest wait that a server may ask for: meanwhile the source holds its slot. */
const MAX_ASKED_MS = 60_000;

/** Whether asking again may help after so many failures in a row; `seen`: the server has begun to give the source. */
export function mayTryAgain(failure: AppError, failures: number, seen: boolean): boolean {
  const { retryable, blame } = errorTraits(failure.code);
  if (!retryable || blame !== "source" || failure instanceof DeadEnd) return false;
  return failures <= (seen || failure instanceof HttpRefusal ? RETRIES : RETRIES_UNSEEN);
}

/** How long to wait before that, in ms: as long as the server asks for, within limits. */
export function pauseMs(failure: AppError, failures: number, { backoff }: Patience): number {
  const asked = failure instanceof HttpRefusal ? (failure.retryAfterMs ?? 0) : 0;
  return Math.max(backoffMs(failures, backoff, Math.random), Math.min(asked, MAX_ASKED_MS));
}

/** Begins to watch one body. What it answers is told of each arrival, and throws AppError `input_timeout` at too few bytes. */
export function watchRate({ least = LEAST }: Patience, host: string): (bytes: number) => void {
  let since = performance.now();
  let inWindow = 0;
  return (bytes) => {
    inWindow += bytes;
    if (performance.now() - since < least.windowMs) return;
    if (inWindow < least.bytes) throw tooSlow(host, least);
    since = performance.now();
    inWindow = 0;
  };
}

/** Begins to watch how long a file is slow. What it answers is told of each arrival, and tells at each slow window too many. */
export function watchSlow({ slow = SLOW }: Patience, tell: () => void): (bytes: number) => void {
  const { bytesPerSecond, windowMs, budgetMs } = slow;
  let [since, inWindow, slowMs] = [performance.now(), 0, 0];
  return (bytes) => {
    inWindow += bytes;
    const tookMs = performance.now() - since;
    if (tookMs < windowMs) return;
    const isSlow = (inWindow * 1000) / tookMs < bytesPerSecond;
    if (isSlow) slowMs += tookMs;
    since = performance.now();
    inWindow = 0;
    if (isSlow && slowMs >= budgetMs) tell();
  };
}

/**
 * Begins to watch a whole file, for which `spentMs` were spent before. What it answers throws AppError `input_timeout` when
 * the time is over, for good.
 */
export function watchTime({ limitMs = LIMIT_MS }: Patience, spentMs = 0): (host: string) => void {
  const since = performance.now() - spentMs;
  return (host) => {
    if (performance.now() - since >= limitMs) throw tooLong(host, limitMs);
  };
}
