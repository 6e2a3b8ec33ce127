// Uploads of source files in the scratch bucket, beside the folders of jobs.
import { AppError } from "#shared/errors.ts";
import type { StorageOf } from "#shared/request/storage/storage-spec.ts";
import { fetchWithin } from "../../http-client/fetch-within.ts";
import type { ScratchSettings } from "../../settings.ts";
import { presign, presignPut, sendS3 } from "../s3/s3-requests.ts";
import { abortMultipart, type Bucket, beginMultipart, completeMultipart } from "../s3/s3-store.ts";
import { objectUrl } from "../s3/s3-urls.ts";
import { SCRATCH_FOLDER } from "../s3/scratch.ts";
import { NoStorageResponse } from "../storage-errors.ts";
import { SIGNED_MS } from "../upload-limits.ts";
import type { UploadStore } from "./upload-store.ts";

/** Time limit for a part: enough for a slow client that sends 20 kB/s. */
const PART_LIMIT_MS = 60 * 60_000;

function bucketOf({ bucket, keys }: ScratchSettings): Bucket {
  const options = { acl: null, storageClass: null, cacheControl: null, expires: null };
  // Jobs have no objects there, because ids of jobs have 14 characters.
  const storage: StorageOf<"s3"> = { kind: "s3", ...bucket, path: `${SCRATCH_FOLDER}/uploads`, options, secure: true };
  return { storage, keys, allow: null, region: bucket.region };
}

/** The object of an upload as a FileToStore; only its name and size matter. */
const fileOf = (id: string, sizeBytes: number) =>
  ({
    objectName: id,
    contentType: "application/octet-stream",
    cacheControl: null,
    sizeBytes,
    output: { key: "", type: "video" },
  }) as const;

export function scratchUploads(settings: ScratchSettings): UploadStore {
  const bucket = bucketOf(settings);
  const urlOf = (id: string): string => objectUrl(bucket.storage, bucket.storage.path, id);
  return {
    begin: (id) => beginMultipart(bucket, fileOf(id, 0)),
    putPart: async ({ id, multipartId }, { number, sizeBytes }, body) => {
      const query = new URLSearchParams({ partNumber: String(number), uploadId: multipartId });
      const unsigned = `${urlOf(id)}?${query}`;
      const url = await presignPut(bucket, unsigned, { sizeBytes, seconds: SIGNED_MS / 1000 });
      return await putStream(url, body);
    },
    complete: (upload, sizeBytes, etags) =>
      completeMultipart(bucket, fileOf(upload.id, sizeBytes), upload.multipartId, etags),
    remove: async ({ id, multipartId }) => {
      await abortMultipart(bucket, id, multipartId);
      await sendS3(bucket, urlOf(id), { method: "DELETE" });
    },
  };
}

/** Sends a body of known length, and returns the ETag of the response. Throws AppError(storage_unreachable). */
async function putStream(url: string, body: ReadableStream): Promise<string> {
  const { host } = new URL(url);
  const request = new Request(url, { method: "PUT", body });
  const { status, etag } = await fetchWithin(PART_LIMIT_MS, request, async (response) => {
    await response.body?.cancel();
    return { status: response.status, etag: response.headers.get("etag") };
  }).catch((error: unknown) => {
    throw new NoStorageResponse(`https://${host}`, error);
  });
  if (status < 300 && etag !== null) return etag;
  throw new AppError("storage_unreachable", `The storage did not store the part (HTTP ${status})`);
}

/** A signed URL to GET an upload, valid for `seconds`. */
export function scratchUploadUrl(settings: ScratchSettings, id: string, seconds: number): Promise<string> {
  const bucket = bucketOf(settings);
  return presign(bucket, objectUrl(bucket.storage, bucket.storage.path, id), { method: "GET", seconds });
}
