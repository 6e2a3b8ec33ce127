// The steps of a source file's upload: starts it, stores its parts, completes it.
import { PART_BYTES, type Upload, type UploadPart, type UploadSummary } from "#shared/api/uploads.ts";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { completeUpload, type PartRow, partsOf, recordPart, type UploadRow } from "../../db/uploads.ts";
import { log } from "../../log.ts";
import { checkedBody, type ExpectedDigest, expectedDigest } from "../../storage/source-uploads/checked-body.ts";
import { openUploadStore, type UploadStoreName } from "../../storage/source-uploads/open-upload-store.ts";
import { KEEP_UPLOADS_MS, storeNameOf, type UploadsEnv } from "../../storage/source-uploads/remove-uploads.ts";
import { newUploadId } from "../../storage/source-uploads/upload-id.ts";
import { isUploadLost } from "../../storage/storage-errors.ts";

type NewFile = { readonly accountId: string; readonly name: string; readonly size: number };

/** Starts the upload of a file in a storage. The caller stores its row. Throws AppError(service_unavailable). */
export async function startUpload(
  env: UploadsEnv,
  { accountId, name, size }: NewFile,
  store: UploadStoreName,
): Promise<UploadRow> {
  const id = newUploadId(randomBytes);
  const multipartId = await openUploadStore(store, env)
    .begin(id)
    .catch((error: unknown) => {
      throw stateError(error, id);
    });
  const createdAt = Date.now();
  const times = { createdAt, expiresAt: createdAt + KEEP_UPLOADS_MS };
  const sizes = { sizeBytes: size, partBytes: PART_BYTES };
  return { id, accountId, name, ...sizes, status: "open", store, multipartId, ...times, jobs: "[]" };
}

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

type NewPart = { readonly number: number; readonly sizeBytes: number };

/**
 * Stores the body of a request as a part, and records it. Throws AppError(upload_part_not_valid |
 * upload_checksum_mismatch | upload_state_conflict | service_unavailable).
 */
export async function takePart(
  env: UploadsEnv,
  upload: UploadRow,
  part: NewPart,
  request: Request,
  digest: ExpectedDigest | null = expectedDigest(request.headers),
): Promise<UploadPart> {
  if (upload.status !== "open") throw new AppError("upload_state_conflict", "The upload is completed");
  const length = request.headers.get("content-length");
  if (length !== String(part.sizeBytes) || !request.body) {
    const problem = length === null ? "the request has no Content-Length" : `the request has ${length}`;
    const message = `Part ${part.number} must have exactly ${part.sizeBytes} bytes, and ${problem}`;
    throw new AppError("upload_part_not_valid", message);
  }
  const { stream, failure } = checkedBody(request.body, part.sizeBytes, digest);
  try {
    const etag = await openUploadStore(storeNameOf(upload), env).putPart(upload, part, stream);
    const stored = { uploadId: upload.id, ...part, etag };
    const { partBytes } = upload;
    if (await recordPart(env.DB, stored, { expiresAt: Date.now() + KEEP_UPLOADS_MS, partBytes })) {
      return { number: part.number, size: part.sizeBytes, etag };
    }
  } catch (error) {
    const reason = failure();
    if (reason instanceof AppError) throw reason;
    throw stateError(error, upload.id);
  }
  throw new AppError("upload_state_conflict", "The upload was completed or removed meanwhile");
}

/**
 * Completes an upload whose parts are all stored, and returns it. A repeated call changes nothing. Throws
 * AppError(upload_state_conflict | service_unavailable).
 */
export async function completeParts(env: UploadsEnv, upload: UploadRow): Promise<UploadRow> {
  if (upload.status === "completed") return upload;
  const parts = await partsOf(env.DB, upload.id);
  const missing = missingParts(parts, upload);
  if (missing !== null) throw new AppError("upload_state_conflict", `Parts are not stored: ${missing}`);
  const etags = parts.map(({ etag }) => etag);
  try {
    await openUploadStore(storeNameOf(upload), env).complete(upload, upload.sizeBytes, etags);
  } catch (error) {
    throw stateError(error, upload.id);
  }
  const expiresAt = Date.now() + KEEP_UPLOADS_MS;
  await completeUpload(env.DB, upload.id, expiresAt);
  return { ...upload, status: "completed", expiresAt };
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

/** The upload as clients see it, with its stored parts. */
export async function viewUpload(env: UploadsEnv, upload: UploadRow): Promise<Upload> {
  const parts = await partsOf(env.DB, upload.id);
  const views = parts.map(({ number, sizeBytes, etag }) => ({ number, size: sizeBytes, etag }));
  return { ...viewSummary(upload), parts: views };
}

export const viewSummary = ({
  id,
  name,
  sizeBytes,
  partBytes,
  status,
  createdAt,
  expiresAt,
}: UploadRow): UploadSummary => ({
  id,
  name,
  size: sizeBytes,
  part_size: partBytes,
  status: status === "completed" ? "completed" : "open",
  created_at: new Date(createdAt).toISOString(),
  expires_at: new Date(expiresAt).toISOString(),
});
