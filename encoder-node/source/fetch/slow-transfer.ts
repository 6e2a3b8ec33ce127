// Decides whether work on a source should start before its slow transfer is complete. Pure.

/** State of a transfer. `elapsedMs`: the time of all its attempts. */
export type TransferState = {
  readonly received: number;
  /** Null when the server does not send it. */
  readonly totalBytes: number | null;
  readonly elapsedMs: number;
};

/** An earlier rate does not represent the whole transfer: connections start slowly. */
const MEASURED_MS = 1_000;
/** Reading an outline takes some round trips, and the requests of an encode take as many. */
const WORTHWHILE_MS = 3_000;
/** Slower sources are downloaded before an encode, without holding an encode slot. */
const MAX_MS = 15 * 60_000;

/** Remaining time of the transfer at its rate until now, in ms; null while it is unknown. */
function remainingMs({ received, totalBytes, elapsedMs }: TransferState): number | null {
  if (totalBytes === null || received === 0 || elapsedMs < MEASURED_MS) return null;
  return ((totalBytes - received) / received) * elapsedMs;
}

/**
 * True if further requests beside the transfer are worth it. `validForMs`: the time until the host refuses further
 * requests (url-validity.ts). A transfer that continues by itself may take longer.
 */
export function isWorthSplit(transfer: TransferState, validForMs: number): boolean {
  const leftMs = remainingMs(transfer);
  return leftMs !== null && leftMs > WORTHWHILE_MS && 2 * leftMs < validForMs;
}

/** True if an encode should read the source while it arrives, instead of waiting for all of it. */
export const isWorthRanges = (transfer: TransferState, validForMs: number): boolean =>
  isWorthSplit(transfer, validForMs) && (remainingMs(transfer) ?? 0) < MAX_MS;
