// An S3-compatible bucket: signs PUTs for nodes; starts, completes and aborts multipart uploads.

import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import type { AccessKeys, StorageOf } from "#shared/request/storage/storage-spec.ts";
import { CHECK_LIMIT_MS, type FileToStore, type ObjectStore } from "../object-store.ts";
import { isUploadGone } from "../storage-errors.ts";
import { type PartPlace, partSizes, placesOf, SIGNED_MS } from "../upload-limits.ts";
import { presignPut, type S3Client, sendS3, storedSize } from "./s3-requests.ts";
import { objectUrl } from "./s3-urls.ts";

/** A bucket, and the folder of its objects. */
export type Bucket = S3Client & { readonly storage: StorageOf<"s3"> };

/** A job's storage in an S3-compatible bucket. */
export function s3Store(storage: StorageOf<"s3">, keys: AccessKeys, allow: AllowPrivate): ObjectStore {
  const bucket: Bucket = { storage, keys, allow, region: storage.region };
  return {
    partSizes: (sizeBytes) => partSizes(sizeBytes),
    // The check needs the same permission as a PUT, and sends the same options.
    check: (file) => beginMultipart(bucket, file, CHECK_LIMIT_MS),
    begin: async (file, isEarly = false) =>
      !isEarly && partSizes(file.sizeBytes).length === 1 ? null : await beginMultipart(bucket, file),
    sign: (file, uploadId, _holder, places) => signParts(bucket, file, uploadId, places),
    complete: (file, uploadId, etags) => completeMultipart(bucket, file, uploadId, etags),
    abort: (objectName, uploadId) => abortMultipart(bucket, objectName, uploadId),
  };
}

/** S3 may take minutes to complete a large object (CompleteMultipartUpload, API reference). */
const COMPLETE_LIMIT_MS = 5 * 60_000;
/** Far longer than the ids of any service (S3's have about 130 characters). */
const MAX_UPLOAD_ID_CHARS = 1024;

const urlOf = ({ storage }: Bucket, objectName: string): string => objectUrl(storage, storage.path, objectName);

/** The headers that create an object: sent with its PUT, or with the request that starts its multipart upload. */
function objectHeaders(
  { storage: { options } }: Bucket,
  { contentType, cacheControl, isGrowing = false }: FileToStore,
): Record<string, string> {
  const chosen = isGrowing ? { cacheControl: null, expires: null } : options;
  const headers = {
    "content-type": contentType,
    "cache-control": chosen.cacheControl ?? (chosen.expires === null ? cacheControl : null),
    expires: chosen.expires,
    "x-amz-acl": options.acl,
    "x-amz-storage-class": options.storageClass,
  };
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Signed PUTs for all parts of an object: a single PUT, or numbered PUTs of a multipart upload. */
async function signParts(
  bucket: Bucket,
  file: FileToStore,
  uploadId: string | null,
  places: readonly PartPlace[] = placesOf(uploadId === null ? [file.sizeBytes] : partSizes(file.sizeBytes)),
): Promise<UploadPart[]> {
  const parts: UploadPart[] = [];
  for (const { number, offset, sizeBytes } of places) {
    const address = new URL(urlOf(bucket, file.objectName));
    if (uploadId !== null) {
      address.searchParams.set("partNumber", String(number));
      address.searchParams.set("uploadId", uploadId);
    }
    const headers = uploadId === null ? objectHeaders(bucket, file) : {};
    const url = await presignPut(bucket, address.href, { sizeBytes, seconds: SIGNED_MS / 1000, headers });
    parts.push({ url, headers, offset, sizeBytes });
  }
  return parts;
}

/** Starts a multipart upload and returns its id. Throws AppError(storage_*). */
export async function beginMultipart(bucket: Bucket, file: FileToStore, limitMs?: number): Promise<string> {
  const url = `${urlOf(bucket, file.objectName)}?uploads=`;
  const init = { method: "POST", headers: objectHeaders(bucket, file) };
  const xml = await sendS3(bucket, url, limitMs === undefined ? init : { ...init, limitMs });
  const uploadId = xmlText(xml, "UploadId");
  if (!uploadId || uploadId.length > MAX_UPLOAD_ID_CHARS) {
    throw new AppError("storage_unreachable", "The storage did not start a multipart upload");
  }
  return uploadId;
}

/**
 * Completes a multipart upload. An upload that no longer exists counts as completed if the object exists in its full
 * size: the response was lost. Throws AppError(storage_*).
 */
export async function completeMultipart(
  bucket: Bucket,
  { objectName, sizeBytes }: FileToStore,
  uploadId: string,
  etags: readonly string[],
): Promise<void> {
  const base = urlOf(bucket, objectName);
  const parts = etags.map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
  try {
    const headers = { "content-type": "application/xml" };
    const init = { method: "POST", headers, body, limitMs: COMPLETE_LIMIT_MS };
    const xml = await sendS3(bucket, `${base}?uploadId=${encodeURIComponent(uploadId)}`, init);
    // S3 sends 200 and then blanks to keep the connection open, so a response may end before its result.
    if (xml.includes("<CompleteMultipartUploadResult") || (await storedSize(bucket, base)) === sizeBytes) return;
    throw new AppError("storage_unreachable", "The storage did not confirm that it completed the upload");
  } catch (error) {
    if (!isUploadGone(error) || (await storedSize(bucket, base)) !== sizeBytes) throw error;
  }
}

/** Aborts a multipart upload. Does nothing if it no longer exists. */
export async function abortMultipart(bucket: Bucket, objectName: string, uploadId: string): Promise<void> {
  try {
    await sendS3(bucket, `${urlOf(bucket, objectName)}?uploadId=${encodeURIComponent(uploadId)}`, { method: "DELETE" });
  } catch (error) {
    if (!isUploadGone(error)) throw error;
  }
}

const xmlText = (xml: string, element: string): string | null =>
  new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1]?.replaceAll("&quot;", '"').replaceAll("&amp;", "&") ??
  null;
const escapeXml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
