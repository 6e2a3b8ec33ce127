// The service's own storage: an R2 bucket of the Worker. Nodes put files through the Worker, with signed URLs.
import { AppError } from "#shared/errors.ts";
import type { JobId } from "#shared/ids.ts";
import { joinPath } from "#shared/job/object-name.ts";
import { messageOf } from "#shared/log.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import type { StorageOf } from "#shared/request/storage/storage-spec.ts";
import type { SealingKeys } from "../../crypto/sealed-secret.ts";
import type { FileToStore, ObjectStore, UploadHolder } from "../object-store.ts";
import { PartLost, UploadGone } from "../storage-errors.ts";
import { type PartPlace, partSizes, placesOf, SIGNED_MS } from "../upload-limits.ts";
import { type BuiltinObject, hasRoomFor, keyOf, pathnameOf, prefixOf } from "./builtin-objects.ts";
import { type SignedPut, signPut } from "./builtin-signature.ts";

/** A job's folder in the bucket, and the keys that sign uploads to it. */
export type BuiltinFolder = {
  readonly bucket: R2Bucket;
  readonly jobId: JobId;
  readonly storage: StorageOf<"builtin">;
  readonly keys: SealingKeys;
};

/** A job's storage in the Worker's own bucket. */
export function builtinStore(folder: BuiltinFolder): ObjectStore {
  return {
    // The service's own bucket needs no check.
    check: async () => null,
    partSizes: sizesOf,
    begin: (file, isEarly = false) => begin(folder, file, isEarly),
    sign: (file, uploadId, holder, places) => signParts(folder, file, { uploadId, holder, places }),
    complete: (file, uploadId, etags) => complete(folder, file, uploadId, etags),
    abort: (objectName, uploadId) => abort(folder, objectName, uploadId),
  };
}

/** The body of a request to a Worker is limited to 100 MB (Workers limits, free and pro plans). */
const MAX_PART_BYTES = 90 * 2 ** 20;
/** The maximum number of parts of an upload (R2 limits). */
const MAX_PARTS = 10_000;

const sizesOf = (sizeBytes: number): number[] => partSizes(sizeBytes, MAX_PART_BYTES);

/** The URL of an object as clients see it. */
export const builtinUrl = (jobId: JobId, { origin, path }: StorageOf<"builtin">, objectName: string): string =>
  origin + pathnameOf({ jobId, path: joinPath(path, objectName) });

function objectOf({ jobId, storage }: BuiltinFolder, objectName: string): BuiltinObject {
  const object = { jobId, path: joinPath(storage.path, objectName) };
  if (hasRoomFor(object)) return object;
  throw new AppError("storage_denied", "The path of an output is too long for the service's own storage");
}

async function begin(
  folder: BuiltinFolder,
  { objectName, contentType, cacheControl, sizeBytes }: FileToStore,
  isEarly: boolean,
): Promise<string | null> {
  const key = keyOf(objectOf(folder, objectName));
  if (sizeBytes > MAX_PARTS * MAX_PART_BYTES) {
    throw new AppError("storage_denied", "The file is too large for the service's own storage");
  }
  if (!isEarly && sizesOf(sizeBytes).length === 1) return null;
  const options = { httpMetadata: metadataOf({ contentType, cacheControl }) };
  return (await callBucket(() => folder.bucket.createMultipartUpload(key, options))).uploadId;
}

/** The HTTP metadata of an object. */
const metadataOf = ({ contentType, cacheControl }: Pick<SignedPut, "contentType" | "cacheControl">): R2HTTPMetadata =>
  cacheControl === null ? { contentType } : { contentType, cacheControl };

type SignedParts = {
  readonly uploadId: string | null;
  readonly holder: UploadHolder | undefined;
  /** Absent: all parts. */
  readonly places: readonly PartPlace[] | undefined;
};

/** Signed PUTs for all parts. They go to the Worker itself (worker/http/uploads/storage.ts). */
async function signParts(
  folder: BuiltinFolder,
  file: FileToStore,
  { uploadId, holder, places }: SignedParts,
): Promise<UploadPart[]> {
  if (!holder) throw new Error("An upload to the service's own storage needs a lease");
  const object = objectOf(folder, file.objectName);
  if (uploadId === null && file.sizeBytes > MAX_PART_BYTES) {
    throw new AppError("storage_denied", "The file is too large for one request to the service's own storage");
  }
  const expiresAt = Date.now() + SIGNED_MS;
  const parts: UploadPart[] = [];
  const { contentType, cacheControl } = file;
  const all = placesOf(uploadId === null ? [file.sizeBytes] : sizesOf(file.sizeBytes));
  for (const { number, offset, sizeBytes } of places ?? all) {
    const part = uploadId === null ? null : { uploadId, number };
    const put: SignedPut = { object, sizeBytes, contentType, cacheControl, part, expiresAt, holder };
    parts.push({ url: folder.storage.origin + (await signPut(put, folder.keys)), headers: {}, offset, sizeBytes });
  }
  return parts;
}

/** An upload that no longer exists counts as completed if the object exists in its full size: the response was lost. */
async function complete(
  folder: BuiltinFolder,
  { objectName, sizeBytes }: FileToStore,
  uploadId: string,
  etags: readonly string[],
): Promise<void> {
  const { bucket } = folder;
  const key = keyOf(objectOf(folder, objectName));
  const parts = etags.map((etag, index) => ({ partNumber: index + 1, etag: etag.replaceAll('"', "") }));
  try {
    await callBucket(() => bucket.resumeMultipartUpload(key, uploadId).complete(parts));
  } catch (error) {
    if (!(error instanceof UploadGone) || (await callBucket(() => bucket.head(key)))?.size !== sizeBytes) throw error;
  }
}

async function abort(folder: BuiltinFolder, objectName: string, uploadId: string): Promise<void> {
  const key = keyOf(objectOf(folder, objectName));
  try {
    await callBucket(() => folder.bucket.resumeMultipartUpload(key, uploadId).abort());
  } catch (error) {
    if (!(error instanceof UploadGone)) throw error;
  }
}

/**
 * Stores the body of an upload and returns the ETag, without quotes. The caller checks the length of the body. Throws
 * UploadGone, AppError(storage_unreachable).
 */
export async function storeUpload(
  bucket: R2Bucket,
  { object, part, ...metadata }: SignedPut,
  body: ReadableStream | null,
): Promise<string> {
  const key = keyOf(object);
  const value = body ?? new Uint8Array();
  const stored = part
    ? await callBucket(() => bucket.resumeMultipartUpload(key, part.uploadId).uploadPart(part.number, value))
    : await callBucket(() => bucket.put(key, value, { httpMetadata: metadataOf(metadata) }));
  return stored.etag;
}

/** Removes all objects of a job. Throws AppError(storage_unreachable) when some may be left. */
export async function removeObjects(bucket: R2Bucket, jobId: JobId): Promise<void> {
  for (;;) {
    // The listed objects are deleted before the next list, so each list starts at the first object.
    const { objects } = await callBucket(() => bucket.list({ prefix: prefixOf(jobId) }));
    if (objects.length === 0) return;
    await callBucket(() => bucket.delete(objects.map(({ key }) => key)));
  }
}

/** R2's error number for an upload that does not exist (R2 error codes: NoSuchUpload). */
const NO_SUCH_UPLOAD = "(10024)";
/** R2's error number for a part that does not exist or has another ETag (R2 error codes: InvalidPart). */
const INVALID_PART = "(10025)";

/** Calls the bucket. The messages of its errors contain R2's error number. */
export async function callBucket<Value>(call: () => Promise<Value>): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    const message = messageOf(error);
    if (message.includes(NO_SUCH_UPLOAD)) throw new UploadGone("The upload no longer exists", { cause: error });
    if (message.includes(INVALID_PART)) throw new PartLost("A part of the upload is lost", { cause: error });
    const failure = `The service's own storage cannot be reached: ${message}`;
    throw new AppError("storage_unreachable", failure, { cause: error });
  }
}
