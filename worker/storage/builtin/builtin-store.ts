// The service's own storage: an R2 bucket of the Worker's. Nodes put files through the Worker, by signed addresses.
import { AppError } from "#shared/errors.ts";
import type { JobId } from "#shared/ids.ts";
import { joinPath } from "#shared/job/object-name.ts";
import { messageOf } from "#shared/log.ts";
import type { UploadPart } from "#shared/protocol/protocol.ts";
import type { StorageOf } from "#shared/request/storage/storage-spec.ts";
import type { FileToStore, ObjectStore } from "../object-store.ts";
import { partSizes } from "../part-sizes.ts";
import type { SealingKeys } from "../sealed-secret.ts";
import { SIGNED_MS } from "../signed-life.ts";
import { UploadGone } from "../upload-gone.ts";
import { type BuiltinObject, hasRoomFor, keyOf, pathnameOf, prefixOf } from "./builtin-objects.ts";
import { signGrant, type UploadGrant, type UploadHolder } from "./builtin-signature.ts";

/** Of one job: its folder in the bucket, and what uploads to it are signed with. */
export type BuiltinFolder = {
  readonly bucket: R2Bucket;
  readonly jobId: JobId;
  readonly storage: StorageOf<"builtin">;
  readonly keys: SealingKeys;
};

/** A job's storage in the Worker's own bucket. */
export function builtinStore(folder: BuiltinFolder): ObjectStore {
  return {
    // The bucket is the service's own.
    tryOut: async () => null,
    partSizes: sizesOf,
    begin: (file) => begin(folder, file),
    sign: (file, uploadId, holder) => signParts(folder, file, uploadId, holder),
    complete: (file, uploadId, etags) => complete(folder, file, uploadId, etags),
    abort: (objectName, uploadId) => abort(folder, objectName, uploadId),
  };
}

/** A request to a Worker has a body of 100 MB at the most (Workers limits, free and pro plans). */
const MAX_PART_BYTES = 90 * 2 ** 20;
/** Parts of one upload (R2 limits). */
const MAX_PARTS = 10_000;

const sizesOf = (sizeBytes: number): number[] => partSizes(sizeBytes, MAX_PART_BYTES);

/** The address of an object as clients are shown it. */
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
): Promise<string | null> {
  const key = keyOf(objectOf(folder, objectName));
  if (sizeBytes > MAX_PARTS * MAX_PART_BYTES) {
    throw new AppError("storage_denied", "The file is too large for the service's own storage");
  }
  if (sizesOf(sizeBytes).length === 1) return null;
  const options = { httpMetadata: metadataOf({ contentType, cacheControl }) };
  return (await reach(() => folder.bucket.createMultipartUpload(key, options))).uploadId;
}

/** What is kept of an object beside its bytes. */
const metadataOf = ({
  contentType,
  cacheControl,
}: Pick<UploadGrant, "contentType" | "cacheControl">): R2HTTPMetadata => ({
  contentType,
  ...(cacheControl === null ? {} : { cacheControl }),
});

/** Signed PUTs for all parts, to the Worker itself (worker/http/routes/storage.ts). */
async function signParts(
  folder: BuiltinFolder,
  file: FileToStore,
  uploadId: string | null,
  holder: UploadHolder | null = null,
): Promise<UploadPart[]> {
  const object = objectOf(folder, file.objectName);
  if (uploadId === null && file.sizeBytes > MAX_PART_BYTES) {
    throw new AppError("storage_denied", "The file is too large to be stored at once in the service's own storage");
  }
  const expiresAt = Date.now() + SIGNED_MS;
  const parts: UploadPart[] = [];
  let offset = 0;
  const { contentType, cacheControl } = file;
  const sizes = uploadId === null ? [file.sizeBytes] : sizesOf(file.sizeBytes);
  for (const [index, sizeBytes] of sizes.entries()) {
    const part = uploadId === null ? null : { uploadId, number: index + 1 };
    const grant: UploadGrant = { object, sizeBytes, contentType, cacheControl, part, expiresAt, holder };
    parts.push({ url: folder.storage.origin + (await signGrant(grant, folder.keys)), headers: {}, offset, sizeBytes });
    offset += sizeBytes;
  }
  return parts;
}

/** One that was completed before, whose answer was lost, counts as done when the object is there in its full size. */
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
    await reach(() => bucket.resumeMultipartUpload(key, uploadId).complete(parts));
  } catch (error) {
    if (!(error instanceof UploadGone) || (await reach(() => bucket.head(key)))?.size !== sizeBytes) throw error;
  }
}

async function abort(folder: BuiltinFolder, objectName: string, uploadId: string): Promise<void> {
  const key = keyOf(objectOf(folder, objectName));
  try {
    await reach(() => folder.bucket.resumeMultipartUpload(key, uploadId).abort());
  } catch (error) {
    if (!(error instanceof UploadGone)) throw error;
  }
}

/**
 * Stores the body of an upload and answers the ETag, without quotes. The body must be as long as the grant says.
 * Throws UploadGone, AppError(storage_unreachable).
 */
export async function takeUpload(
  bucket: R2Bucket,
  { object, part, ...grant }: UploadGrant,
  body: ReadableStream | null,
): Promise<string> {
  const key = keyOf(object);
  const value = body ?? new Uint8Array();
  const stored = part
    ? await reach(() => bucket.resumeMultipartUpload(key, part.uploadId).uploadPart(part.number, value))
    : await reach(() => bucket.put(key, value, { httpMetadata: metadataOf(grant) }));
  return stored.etag;
}

/** Removes all objects of a job, however many. Throws AppError(storage_unreachable) with some of them left. */
export async function removeObjects(bucket: R2Bucket, jobId: JobId): Promise<void> {
  for (;;) {
    // What was listed is gone before the next look, so each look begins at the front.
    const { objects } = await reach(() => bucket.list({ prefix: prefixOf(jobId) }));
    if (objects.length === 0) return;
    await reach(() => bucket.delete(objects.map(({ key }) => key)));
  }
}

/** R2's own number for an upload that it does not know (R2 error codes: NoSuchUpload). */
const NO_SUCH_UPLOAD = "(10024)";

/** Asks the bucket; its errors are plain ones with R2's number in their words. */
async function reach<Value>(ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask();
  } catch (error) {
    const words = messageOf(error);
    if (words.includes(NO_SUCH_UPLOAD)) throw new UploadGone("The upload was given up", { cause: error });
    const failure = `The service's own storage cannot be reached: ${words}`;
    throw new AppError("storage_unreachable", failure, { cause: error });
  }
}
