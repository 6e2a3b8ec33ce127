// The part size of a tus upload: the length of the first request.
import { MAX_PARTS } from "#shared/api/uploads.ts";
import { AppError } from "#shared/errors.ts";

const MIB = 2 ** 20;
/** S3 and R2 accept no smaller parts, except the last. */
const MIN_BYTES = 5 * MIB;
/** A request to a Worker may have 100 MB (Workers limits, Free and Pro plans). */
const MAX_BYTES = 90 * MIB;
const STEP = 64 * 1024;

/**
 * The size of all parts but the last, if the first has this length. A file of a single part may have any length up to
 * the maximum. Throws AppError(upload_part_not_valid), which names a valid length.
 */
export function partSizeOf(length: number, fileBytes: number): number {
  if (length === fileBytes && length <= MAX_BYTES) return length;
  const min = Math.max(MIN_BYTES, Math.ceil(fileBytes / MAX_PARTS / STEP) * STEP);
  if (length >= min && length <= MAX_BYTES && length % STEP === 0 && length < fileBytes) return length;
  const nearest = Math.min(Math.max(Math.round(length / STEP) * STEP, min), MAX_BYTES);
  const rule = `from ${min} to ${MAX_BYTES} bytes, in steps of ${STEP}`;
  const advice = Math.min(fileBytes, nearest);
  throw new AppError(
    "upload_part_not_valid",
    `The first request must have the whole file or a part ${rule}, such as ${advice}, and the request has ${length}`,
  );
}
