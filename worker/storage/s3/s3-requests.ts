// Requests to an S3-compatible bucket: signed for nodes, or signed and sent by the Worker.
import { AwsClient } from "aws4fetch";
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { storageRejection } from "#shared/network/storage-failure.ts";
import type { AccessKeys, S3Bucket } from "#shared/request/storage/storage-spec.ts";
import { fetchWithin } from "../../http-client/fetch-within.ts";
import { readLimited } from "../../http-client/read-limited.ts";
import { rememberedBy } from "../../remembered-by.ts";
import { NoStorageResponse, requireAllowed } from "../storage-errors.ts";

/** The region and keys that sign a request; s3-urls.ts makes the URLs. */
export type Signer = { readonly region: S3Bucket["region"]; readonly keys: AccessKeys };

/** Signs the Worker's own requests, and limits their hosts. */
export type S3Client = Signer & {
  /** The hosts that are allowed; null: all hosts, because the operator chose the host. */
  readonly allow: AllowPrivate | null;
};

const REQUEST_LIMIT_MS = 30_000;
/** The client chooses the host, so the size of a response is limited. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** `limitMs` limits the whole request, including the body of the response. */
type TimedInit = RequestInit & { readonly limitMs?: number };

/** The derived keys of a day, while the secret key is in memory. */
const derivedKeysOf = rememberedBy((_keys: AccessKeys) => new Map<string, ArrayBuffer>());

const awsClientOf = ({ region, keys }: Signer): AwsClient =>
  new AwsClient({ ...keys, service: "s3", region, cache: derivedKeysOf(keys), retries: 0 });

/** The URL with a signature in its query, valid for `seconds`. The sender must send `headers`, which are signed. */
export async function presign(
  signer: Signer,
  unsigned: string,
  { method, seconds, headers = {} }: { method: string; seconds: number; headers?: Record<string, string> },
): Promise<string> {
  const url = new URL(unsigned);
  url.searchParams.set("X-Amz-Expires", String(seconds));
  const signed = await awsClientOf(signer).sign(url.href, {
    method,
    headers,
    aws: { signQuery: true, allHeaders: true },
  });
  return signed.url;
}

/**
 * The URL for a PUT of exactly this many bytes. The length is signed with `headers`, so that no other size can be
 * stored. HTTP clients send `Content-Length` anyway.
 */
export const presignPut = (
  signer: Signer,
  unsigned: string,
  { sizeBytes, seconds, headers = {} }: { sizeBytes: number; seconds: number; headers?: Record<string, string> },
): Promise<string> =>
  presign(signer, unsigned, { method: "PUT", seconds, headers: { ...headers, "content-length": String(sizeBytes) } });

/**
 * Sends a request and returns the body of the response. Throws StorageRejection; throws NoStorageResponse if no
 * response arrives.
 */
export async function sendS3(client: S3Client, url: string, init: TimedInit): Promise<string> {
  return await send(client, { url, init }, async (response) => {
    const body = new TextDecoder().decode(await readLimited(response.body, MAX_RESPONSE_BYTES));
    // CompleteMultipartUpload may respond with 200 and an error in the body (API reference).
    if (response.ok && !body.includes("<Error>")) return body;
    const bucketRegion = response.headers.get("x-amz-bucket-region");
    throw storageRejection({ status: response.status, body, bucketRegion }, client.region);
  });
}

/**
 * Size in bytes of an object, or null when it cannot be read. Not by HEAD: for many file name extensions, Cloudflare's
 * edge sends a GET instead, and the signature does not match it.
 */
export async function storedSize(client: S3Client, url: string): Promise<number | null> {
  // The signature does not include this header. An empty object has no byte to send: 416.
  const init = { method: "GET", headers: { range: "bytes=0-0" } };
  const size = async ({ status, headers, body }: Response): Promise<number | null> => {
    await body?.cancel();
    if (status === 200) return wholeNumber(headers.get("content-length"));
    return status === 206 || status === 416 ? wholeNumber(headers.get("content-range")?.split("/")[1]) : null;
  };
  return await send(client, { url, init }, size).catch(() => null);
}

const wholeNumber = (text: string | null | undefined): number | null =>
  /^\d+$/.test(text ?? "") ? Number(text) : null;

async function send<Value>(
  client: S3Client,
  { url, init: { limitMs = REQUEST_LIMIT_MS, ...init } }: { url: string; init: TimedInit },
  read: (response: Response) => Promise<Value>,
): Promise<Value> {
  if (client.allow !== null) requireAllowed(url, client.allow);
  try {
    return await fetchWithin(limitMs, await awsClientOf(client).sign(url, init), read);
  } catch (error) {
    if (error instanceof AppError && error.code.startsWith("storage_")) throw error;
    throw new NoStorageResponse(url, error);
  }
}
