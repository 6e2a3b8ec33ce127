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

/** A part of an upload: its number from 1, and its bytes of the file. */
export type PartPlace = { readonly number: number; readonly offset: number; readonly sizeBytes: number };

/** The places of parts that follow each other. */
export function placesOf(sizes: readonly number[]): PartPlace[] {
  let offset = 0;
  return sizes.map((sizeBytes, index) => {
    const place = { number: index + 1, offset, sizeBytes };
    offset += sizeBytes;
    return place;
  });
}

const MIB = 2 ** 20;
/** S3's minimum, except for the last part. */
const MIN_EARLY_PART_BYTES = 5 * MIB;
/** A request to the Worker, for its own storage, has at most 100 MB. */
const MAX_EARLY_PART_BYTES = 64 * MIB;
/** At the end of an encode some two or three parts are left to be sent: so many parts make that a small share. */
const GOOD_PARTS = 40;

/** The size of the parts of an upload that begins before its file is complete, in bytes. */
export function earlyPartBytes(expectedBytes: number): number {
  const good = Math.min(PART_BYTES, Math.ceil(expectedBytes / GOOD_PARTS));
  const least = Math.max(MIN_EARLY_PART_BYTES, good, Math.ceil(expectedBytes / MAX_PARTS));
  return Math.min(MAX_EARLY_PART_BYTES, Math.ceil(least / MIB) * MIB);
}

/**
 * The places of parts (from 0) of such an upload, or null if one is not in the file. `sizeBytes` is that of the file;
 * 0: not known yet.
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
 * How long after signing a node may start a request, in ms. A node that needs longer requests new signatures. So this
 * only limits how long a node can still write after it has lost its lease, in storages that cannot check the lease.
 */
export const SIGNED_MS = 15 * 60 * 1000;
