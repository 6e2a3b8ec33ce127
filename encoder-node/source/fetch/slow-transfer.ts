// Whether the rest of a source takes so long that work on it should begin before it is complete. Pure.

/** How far a transfer is. `elapsedMs`: the time of all its attempts. */
export type TransferState = {
  readonly received: number;
  /** Null when the server does not send it. */
  readonly totalBytes: number | null;
  readonly elapsedMs: number;
};

/** Before this a rate is not that of the whole transfer: connections begin slowly. */
const MEASURED_MS = 1_000;
/** Reading an outline takes some round trips, and the requests of an encode as many. */
const WORTHWHILE_MS = 3_000;
/** A source that takes longer is fetched before an encode: it would occupy an encoder that waits for it. */
const MAX_MS = 15 * 60_000;

/** How much longer the transfer takes at its rate until now, in ms; null while that is not known. */
function remainingMs({ received, totalBytes, elapsedMs }: TransferState): number | null {
  if (totalBytes === null || received === 0 || elapsedMs < MEASURED_MS) return null;
  return ((totalBytes - received) / received) * elapsedMs;
}

/**
 * Whether to read the source by ranges while it is encoded, instead of waiting for all of it. `validForMs`: how long
 * the host accepts further requests (url-validity.ts); a transfer that goes on by itself may take longer.
 */
export function isWorthRanges(transfer: TransferState, validForMs: number): boolean {
  const leftMs = remainingMs(transfer);
  return leftMs !== null && leftMs > WORTHWHILE_MS && leftMs < MAX_MS && 2 * leftMs < validForMs;
}
