// A bucket that speaks S3: signed PUTs for nodes, and multipart uploads begun, completed, aborted.

import { AwsClient } from "aws4fetch";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { UploadPart } from "#shared/protocol.ts";
import type { AccessKeys, StorageOf } from "#shared/request/storage-spec.ts";
import { fetchWithin } from "../fetch-within.ts";
import { readLimited } from "../read-limited.ts";
import type { FileToStore, ObjectStore } from "./object-store.ts";
import { objectUrl } from "./s3-target.ts";

type Bucket = { storage: StorageOf<"s3">; keys: AccessKeys };

/** A job's storage in a bucket that speaks S3. */
export function s3Store(storage: StorageOf<"s3">, keys: AccessKeys): ObjectStore {
  const bucket = { storage, keys };
  return {
    partSizes,
    begin: async (file) => (partSizes(file.sizeBytes).length === 1 ? null : await beginMultipart(bucket, file)),
    sign: (file, uploadId) => signParts(bucket, file, uploadId),
    complete: (file, uploadId, etags) => completeMultipart(bucket, file, uploadId, etags),
    abort: (objectName, uploadId) => abortMultipart(bucket, objectName, uploadId),
  };
}

/** How long a signed PUT may begin; the node asks anew if it needs longer. */
const SIGNED_SECONDS = 6 * 60 * 60;
const REQUEST_LIMIT_MS = 30_000;
/** S3 may take minutes to put a large object together (CompleteMultipartUpload, API reference). */
const COMPLETE_LIMIT_MS = 5 * 60_000;
/** Answers come from hosts of the client's choosing: no more of them is read than they have to say. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Below this a file goes up in one PUT: a retry costs little, and small files need no three requests. */
const SINGLE_PUT_MAX_BYTES = 16 * 2 ** 20;
/** Parts are 16 MiB (S3's least is 5), or larger so that a file has at most this many (S3 allows 10,000). */
const PART_BYTES = 16 * 2 ** 20;
const MAX_PARTS = 500;

/** Far beyond the ids of any service (S3's have about 130). */
const MAX_UPLOAD_ID_CHARS = 1024;

/** Sizes of the parts that a file goes up in; one part means a single PUT. All but the last are equal (R2 wants that). */
export function partSizes(sizeBytes: number): number[] {
  if (sizeBytes <= SINGLE_PUT_MAX_BYTES) return [sizeBytes];
  const part = Math.max(PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS));
  const full = Math.floor((sizeBytes - 1) / part);
  return [...new Array<number>(full).fill(part), sizeBytes - full * part];
}

const client = ({ storage, keys }: Bucket): AwsClient =>
  new AwsClient({ ...keys, service: "s3", region: storage.region, retries: 0 });
const urlOf = ({ storage }: Bucket, objectName: string): string => objectUrl(storage, storage.path, objectName);

/** Signed PUTs for all parts of an object: one for a single PUT, numbered ones for a multipart upload. */
async function signParts(bucket: Bucket, file: FileToStore, uploadId: string | null): Promise<UploadPart[]> {
  const signer = client(bucket);
  let offset = 0;
  const parts: UploadPart[] = [];
  for (const [index, sizeBytes] of partSizes(file.sizeBytes).entries()) {
    const url = new URL(urlOf(bucket, file.objectName));
    url.searchParams.set("X-Amz-Expires", String(SIGNED_SECONDS));
    if (uploadId !== null) {
      url.searchParams.set("partNumber", String(index + 1));
      url.searchParams.set("uploadId", uploadId);
    }
    const headers: Record<string, string> = uploadId === null ? { "content-type": file.contentType } : {};
    const signed = await signer.sign(url.href, { method: "PUT", headers, aws: { signQuery: true, allHeaders: true } });
    parts.push({ url: signed.url, headers, offset, sizeBytes });
    offset += sizeBytes;
  }
  return parts;
}

/** Begins a multipart upload and answers its id. Throws AppError(storage_*). */
async function beginMultipart(bucket: Bucket, { objectName, contentType }: FileToStore): Promise<string> {
  const url = `${urlOf(bucket, objectName)}?uploads=`;
  const answer = await request(bucket, url, { method: "POST", headers: { "content-type": contentType } });
  const uploadId = xmlText(answer, "UploadId");
  if (!uploadId || uploadId.length > MAX_UPLOAD_ID_CHARS)
    throw new AppError("storage_unreachable", "The storage began no multipart upload");
  return uploadId;
}

/**
 * Completes a multipart upload. One that was completed before, whose answer was lost, counts as done when the object
 * is there in its full size. Throws AppError(storage_*).
 */
async function completeMultipart(
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
    const url = `${base}?uploadId=${encodeURIComponent(uploadId)}`;
    const init = { method: "POST", headers: { "content-type": "application/xml" }, body };
    const answer = await request(bucket, url, init, COMPLETE_LIMIT_MS);
    // S3 may answer 200 and tell of a failure in the body (CompleteMultipartUpload, API reference).
    if (answer.includes("<Error>")) throw storageError(503, answer);
  } catch (error) {
    if (!isNoSuchUpload(error) || (await storedSize(bucket, base)) !== sizeBytes) throw error;
  }
}

/** Aborts a multipart upload; one that is gone already is fine. */
async function abortMultipart(bucket: Bucket, objectName: string, uploadId: string): Promise<void> {
  const url = `${urlOf(bucket, objectName)}?uploadId=${encodeURIComponent(uploadId)}`;
  try {
    await request(bucket, url, { method: "DELETE" });
  } catch (error) {
    if (!isNoSuchUpload(error)) throw error;
  }
}

/** Whether the storage no longer knows a multipart upload: it was completed, aborted, or never begun. */
export const isNoSuchUpload = (error: unknown): boolean =>
  error instanceof AppError && error.message.includes("NoSuchUpload");

/** Size in bytes of an object, or null when it cannot be seen. */
async function storedSize(bucket: Bucket, url: string): Promise<number | null> {
  const size = async (response: Response): Promise<number | null> => {
    const length = response.headers.get("content-length");
    return response.ok && length !== null ? Number(length) : null;
  };
  return await send(bucket, url, { method: "HEAD" }, REQUEST_LIMIT_MS, size).catch(() => null);
}

async function request(bucket: Bucket, url: string, init: RequestInit, limitMs = REQUEST_LIMIT_MS): Promise<string> {
  return await send(bucket, url, init, limitMs, async (response) => {
    const body = new TextDecoder().decode(await readLimited(response.body, MAX_ANSWER_BYTES));
    if (!response.ok) throw storageError(response.status, body);
    return body;
  });
}

async function send<Value>(
  bucket: Bucket,
  url: string,
  init: RequestInit,
  limitMs: number,
  read: (response: Response) => Promise<Value>,
): Promise<Value> {
  try {
    return await fetchWithin(limitMs, await client(bucket).sign(url, init), read);
  } catch (error) {
    if (error instanceof AppError && error.code.startsWith("storage_")) throw error;
    const { host } = new URL(url);
    throw new AppError("storage_unreachable", `The storage ${host} cannot be reached: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function storageError(status: number, body: string): AppError {
  const code = /^[\w.-]{1,64}$/.exec(xmlText(body, "Code") ?? "")?.[0] ?? `HTTP ${status}`;
  if (code === "NoSuchBucket") return new AppError("storage_bucket_not_found", "The storage has no such bucket");
  if (status === 401 || status === 403)
    return new AppError("storage_denied", `The storage denied the upload (${code})`);
  const passing = status >= 500 || status === 408 || status === 429 || code === "NoSuchUpload";
  if (passing) return new AppError("storage_unreachable", `The storage answered ${status} (${code})`);
  return new AppError("storage_denied", `The storage refused the request (${status} ${code})`);
}

const xmlText = (xml: string, element: string): string | null =>
  new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1]?.replaceAll("&quot;", '"').replaceAll("&amp;", "&") ??
  null;
const escapeXml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
