// In which parts a file goes up.

/** Below this a file goes up in one PUT: a retry costs little, and small files need no three requests. */
const SINGLE_PUT_MAX_BYTES = 16 * 2 ** 20;
/** Parts are 16 MiB (S3's least is 5), or larger so that a file has at most this many (S3 allows 10,000). */
const PART_BYTES = 16 * 2 ** 20;
const MAX_PARTS = 500;

/**
 * Sizes of the parts that a file goes up in; one part means a single PUT. All but the last are equal (R2 wants that).
 * Where a part may not be larger than `maxPartBytes`, there are more of them.
 */
export function partSizes(sizeBytes: number, maxPartBytes = Number.POSITIVE_INFINITY): number[] {
  if (sizeBytes <= SINGLE_PUT_MAX_BYTES) return [sizeBytes];
  const part = Math.min(maxPartBytes, Math.max(PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS)));
  const full = Math.floor((sizeBytes - 1) / part);
  return [...new Array<number>(full).fill(part), sizeBytes - full * part];
}
