// Sizes of upload parts, and the lifetime of signed uploads.

/**
 * Files up to this size are stored by a single PUT: a retry costs little, and a multipart upload takes three requests.
 */
const SINGLE_PUT_MAX_BYTES = 16 * 2 ** 20;
/** Parts have 16 MiB (S3's minimum is 5 MiB), or more if a file would have more than MAX_PARTS (S3 allows 10,000). */
const PART_BYTES = 16 * 2 ** 20;
const MAX_PARTS = 500;

/**
 * Sizes of the upload parts of a file; a single part means a single PUT. All parts but the last have the same size, as
 * R2 requires. With `maxPartBytes` there may be more than MAX_PARTS.
 */
export function partSizes(sizeBytes: number, maxPartBytes = Number.POSITIVE_INFINITY): number[] {
  if (sizeBytes <= SINGLE_PUT_MAX_BYTES) return [sizeBytes];
  const part = Math.min(maxPartBytes, Math.max(PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS)));
  const full = Math.floor((sizeBytes - 1) / part);
  return [...new Array<number>(full).fill(part), sizeBytes - full * part];
}

/** A part of an upload: its number from 1, and its bytes of the file. */
export type PartPlace = { readonly number: number; readonly offset: number; readonly sizeBytes: number };

/** The places of consecutive parts. */
export function placesOf(sizes: readonly number[]): PartPlace[] {
  let offset = 0;
  return sizes.map((sizeBytes, index) => {
    const place = { number: index + 1, offset, sizeBytes };
    offset += sizeBytes;
    return place;
  });
}

const MIB = 2 ** 20;
/** S3's minimum for all parts except the last. */
const MIN_EARLY_PART_BYTES = 5 * MIB;
/** A request to the Worker, for the service's own storage, has at most 100 MB. */
const MAX_EARLY_PART_BYTES = 64 * MIB;
/**
 * Two or three parts are left to send when an encode ends. With this many parts, they are a small share of the file.
 */
const GOOD_PARTS = 40;

/** Part size in bytes of an upload that starts before its file is complete. */
export function earlyPartBytes(expectedBytes: number): number {
  const good = Math.min(PART_BYTES, Math.ceil(expectedBytes / GOOD_PARTS));
  const least = Math.max(MIN_EARLY_PART_BYTES, good, Math.ceil(expectedBytes / MAX_PARTS));
  return Math.min(MAX_EARLY_PART_BYTES, Math.ceil(least / MIB) * MIB);
}

/**
 * Places of parts (counted from 0) of an early upload; null if a part lies beyond the end of the file. `sizeBytes`:
 * size of the file; 0: not known yet.
 */
export function earlyPlaces(partBytes: number, sizeBytes: number, parts: readonly number[]): PartPlace[] | null {
  const places = parts.map((part) => {
    const offset = part * partBytes;
    return {
      number: part + 1,
      offset,
      sizeBytes: sizeBytes === 0 ? partBytes : Math.min(partBytes, sizeBytes - offset),
    };
  });
  return places.every((place) => place.sizeBytes > 0) ? places : null;
}

/**
 * Time after signing within which a node may start a request, in ms. A node that needs longer requests new signatures.
 * In storages that cannot check the lease, this limits how long a node can still write after losing its lease.
 */
export const SIGNED_MS = 15 * 60 * 1000;
