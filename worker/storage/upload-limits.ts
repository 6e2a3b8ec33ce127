// The sizes of upload parts, and how long signed uploads are valid.

/** Smaller files are stored by a single PUT: a retry costs little, and a multipart upload takes three requests. */
const SINGLE_PUT_MAX_BYTES = 16 * 2 ** 20;
/** Parts have 16 MiB (S3's minimum is 5), or more if a file would have more than MAX_PARTS (S3 allows 10,000). */
const PART_BYTES = 16 * 2 ** 20;
const MAX_PARTS = 500;

/**
 * Sizes of the upload parts of a file; one part means a single PUT. All parts but the last have the same size (R2
 * requires that). If a part must not exceed `maxPartBytes`, there may be more than MAX_PARTS.
 */
export function partSizes(sizeBytes: number, maxPartBytes = Number.POSITIVE_INFINITY): number[] {
  if (sizeBytes <= SINGLE_PUT_MAX_BYTES) return [sizeBytes];
  const part = Math.min(maxPartBytes, Math.max(PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS)));
  const full = Math.floor((sizeBytes - 1) / part);
  return [...new Array<number>(full).fill(part), sizeBytes - full * part];
}

/**
 * How long after signing a node may start a request, in ms. A node that needs longer requests new signatures. So this
 * only limits how long a node can still write after it has lost its lease, in storages that cannot check the lease.
 */
export const SIGNED_MS = 15 * 60 * 1000;
