// Decides whether work on a source should start before its slow transfer is complete, and while its URL is valid. Pure.

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
 * requests. A transfer that continues by itself may take longer.
 */
export function isWorthSplit(transfer: TransferState, validForMs: number): boolean {
  const leftMs = remainingMs(transfer);
  return leftMs !== null && leftMs > WORTHWHILE_MS && 2 * leftMs < validForMs;
}

/** True if an encode should read the source while it arrives, instead of waiting for all of it. */
export const isWorthRanges = (transfer: TransferState, validForMs: number): boolean =>
  isWorthSplit(transfer, validForMs) && (remainingMs(transfer) ?? 0) < MAX_MS;

// The remaining validity of a signed URL.

/** AWS signature 4 and Google's: when it was signed, and for how many seconds. */
const SIGNED = ["X-Amz", "X-Goog"] as const;

/**
 * The time in ms until requests of a signed URL are refused, 0 afterwards; Infinity for a URL that names no end. Reads
 * `X-Amz-Date` and `X-Amz-Expires` (S3), `X-Goog-…` (Google Cloud Storage), `Expires` in seconds since 1970
 * (CloudFront, older signatures of S3 and Google) and `se` (Azure's shared access signatures).
 */
export function validForMs(url: string, now: number): number {
  const { searchParams } = new URL(url);
  const ends = [
    ...SIGNED.map((name) => signedEnd(searchParams.get(`${name}-Date`), searchParams.get(`${name}-Expires`))),
    Number(searchParams.get("Expires") ?? Number.NaN) * 1000,
    searchParams.has("sig") ? Date.parse(searchParams.get("se") ?? "") : Number.NaN,
  ].filter(Number.isFinite);
  return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...ends) - now);
}

/** `date` as in 20261123T070000Z. */
function signedEnd(date: string | null, seconds: string | null): number {
  const iso = date?.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  return Date.parse(iso ?? "") + Number(seconds ?? Number.NaN) * 1000;
}
