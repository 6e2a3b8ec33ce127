// The parts of a source file's upload: checks the list of parts, and stores a part.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { PartRow, UploadRow } from "../db/uploads.ts";
import { log } from "../log.ts";
import { checkedBody, expectedDigest } from "../storage/source-uploads/checked-body.ts";
import type { UploadStore } from "../storage/source-uploads/upload-store.ts";
import { isUploadLost } from "../storage/storage-errors.ts";

type Sizes = Pick<UploadRow, "sizeBytes" | "partBytes">;

const partCount = ({ sizeBytes, partBytes }: Sizes): number => Math.ceil(sizeBytes / partBytes);

/** The number and the required size of a part. Throws AppError(upload_part_not_valid). */
export function partAt(text: string, sizes: Sizes): { number: number; sizeBytes: number } {
  const count = partCount(sizes);
  const number = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > count) {
    throw new AppError("upload_part_not_valid", `The number of the part must be from 1 to ${count}`);
  }
  const sizeBytes = number < count ? sizes.partBytes : sizes.sizeBytes - (count - 1) * sizes.partBytes;
  return { number, sizeBytes };
}

/** The numbers of the missing parts, as text for a sentence; null: all parts are stored. */
export function missingParts(stored: readonly PartRow[], sizes: Sizes): string | null {
  const numbers = new Set(stored.map(({ number }) => number));
  const missing = Array.from({ length: partCount(sizes) }, (_, at) => at + 1).filter((number) => !numbers.has(number));
  if (missing.length === 0) return null;
  const some = missing.slice(0, 10).join(", ");
  return missing.length > 10 ? `${some} and ${missing.length - 10} more` : some;
}

/**
 * Stores the body of a request as a part, and returns its ETag. Throws AppError(upload_part_not_valid |
 * upload_state_conflict | service_unavailable).
 */
export async function storePart(
  store: UploadStore,
  upload: UploadRow,
  part: { number: number; sizeBytes: number },
  request: Request,
): Promise<string> {
  const length = request.headers.get("content-length");
  if (length !== String(part.sizeBytes) || !request.body) {
    const given = length === null ? "the request has no Content-Length" : `the request has ${length}`;
    const message = `Part ${part.number} must have exactly ${part.sizeBytes} bytes, and ${given}`;
    throw new AppError("upload_part_not_valid", message);
  }
  const { stream, failure } = checkedBody(request.body, part.sizeBytes, expectedDigest(request.headers));
  try {
    return await store.putPart(upload, part, stream);
  } catch (error) {
    const reason = failure();
    if (reason instanceof AppError) throw reason;
    throw stateError(error, upload.id);
  }
}

/** Converts the error of a storage to an error for clients. */
export function stateError(error: unknown, upload: string): unknown {
  if (!(error instanceof AppError)) return error;
  if (isUploadLost(error)) {
    const message = "The upload was removed, or the storage lost a part of it: create a new upload";
    return new AppError("upload_state_conflict", message);
  }
  log.warn("source upload not stored", { upload, error: messageOf(error) });
  return new AppError("service_unavailable", "The storage of uploads is unavailable; try again later");
}
