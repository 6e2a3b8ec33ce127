// Requests to a bucket that speaks S3: signed for nodes, or signed and sent from here.
import { AwsClient } from "aws4fetch";
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { storageRefusal } from "#shared/network/storage-failure.ts";
import type { AccessKeys, S3Bucket } from "#shared/request/storage/storage-spec.ts";
import { fetchWithin } from "../../fetch-within.ts";
import { readLimited } from "../../read-limited.ts";
import { requireAllowed } from "../allowed-url.ts";
import { StorageSilence } from "../storage-unreachable.ts";

/** Of the bucket, only what is signed: its addresses are s3-target.ts's affair. */
export type Signer = {
  readonly region: S3Bucket["region"];
  readonly keys: AccessKeys;
  /** Where the keys that are derived for a day are kept between requests. */
  readonly derivedKeys?: Map<string, ArrayBuffer>;
};

/** Who sends requests from here, too. */
export type Asker = Signer & {
  /** Where requests may go; null: anywhere, the address is the operator's own. */
  readonly allow: AllowPrivate | null;
};

const REQUEST_LIMIT_MS = 30_000;
/** Answers come from hosts of the client's choosing: no more of them is read than they have to say. */
const MAX_ANSWER_BYTES = 64 * 1024;

const clientOf = ({ region, keys, derivedKeys = new Map() }: Signer): AwsClient =>
  new AwsClient({ ...keys, service: "s3", region, cache: derivedKeys, retries: 0 });

/** The address with a signature in its query, good for `seconds`; the headers given are signed and must be sent. */
export async function presign(
  signer: Signer,
  address: string,
  { method, seconds, headers = {} }: { method: string; seconds: number; headers?: Record<string, string> },
): Promise<string> {
  const url = new URL(address);
  url.searchParams.set("X-Amz-Expires", String(seconds));
  const signed = await clientOf(signer).sign(url.href, { method, headers, aws: { signQuery: true, allHeaders: true } });
  return signed.url;
}

/**
 * The address for a PUT of so many bytes: the length is signed with the headers given, so that no other size can be stored.
 * Who sends it sends `Content-Length` as for any request.
 */
export const presignPut = (
  signer: Signer,
  address: string,
  { sizeBytes, seconds, headers = {} }: { sizeBytes: number; seconds: number; headers?: Record<string, string> },
): Promise<string> =>
  presign(signer, address, { method: "PUT", seconds, headers: { ...headers, "content-length": String(sizeBytes) } });

/** Asks the storage and answers the body. Throws StorageRefusal, and AppError(storage_unreachable) without an answer. */
export async function ask(signer: Asker, url: string, init: RequestInit, limitMs = REQUEST_LIMIT_MS): Promise<string> {
  return await send(signer, url, init, limitMs, async (response) => {
    const body = new TextDecoder().decode(await readLimited(response.body, MAX_ANSWER_BYTES));
    // CompleteMultipartUpload may answer 200 and tell of a failure in the body (API reference).
    if (response.ok && !body.includes("<Error>")) return body;
    const bucketRegion = response.headers.get("x-amz-bucket-region");
    throw storageRefusal({ status: response.status, body, bucketRegion }, signer.region);
  });
}

/** Size in bytes of an object, or null when it cannot be seen. */
export async function storedSize(signer: Asker, url: string): Promise<number | null> {
  const size = async (response: Response): Promise<number | null> => {
    const length = response.headers.get("content-length");
    return response.ok && length !== null ? Number(length) : null;
  };
  return await send(signer, url, { method: "HEAD" }, REQUEST_LIMIT_MS, size).catch(() => null);
}

async function send<Value>(
  signer: Asker,
  url: string,
  init: RequestInit,
  limitMs: number,
  read: (response: Response) => Promise<Value>,
): Promise<Value> {
  if (signer.allow !== null) requireAllowed(url, signer.allow);
  try {
    return await fetchWithin(limitMs, await clientOf(signer).sign(url, init), read);
  } catch (error) {
    if (error instanceof AppError && error.code.startsWith("storage_")) throw error;
    throw new StorageSilence(url, error);
  }
}
