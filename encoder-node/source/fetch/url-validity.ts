// Reads the remaining validity from a signed URL. Pure.

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
