// A container of Azure Blob Storage. Nodes put blobs or blocks with signed URLs; the Worker commits the lists of
// blocks.

import { AppError } from "#shared/errors.ts";
import { newToken } from "#shared/ids.ts";
import { joinPath } from "#shared/job/object-name.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { StorageRejection, storageRejection } from "#shared/network/storage-failure.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import type { AccessKeys, AzureContainer, StorageOf } from "#shared/request/storage/storage-spec.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { fetchWithin } from "../../http-client/fetch-within.ts";
import { readLimited } from "../../http-client/read-limited.ts";
import { encodePath } from "../encode-path.ts";
import { CHECK_LIMIT_MS, type FileToStore, type ObjectStore } from "../object-store.ts";
import { NoStorageResponse, requireAllowed } from "../storage-errors.ts";
import { type PartPlace, partSizes, placesOf, SIGNED_MS } from "../upload-limits.ts";
import { blobSas } from "./azure-sas.ts";

type Container = { storage: StorageOf<"azure">; keys: AccessKeys; allow: AllowPrivate };

/** A job's storage in a container of Azure Blob Storage. */
export function azureStore(storage: StorageOf<"azure">, keys: AccessKeys, allow: AllowPrivate): ObjectStore {
  const container = { storage, keys, allow };
  return {
    partSizes: (sizeBytes) => partSizes(sizeBytes),
    check: (file) => checkContainer(container, file),
    // Azure has no request that starts an upload. The id only distinguishes the blocks of different uploads.
    begin: async ({ sizeBytes }, isEarly = false) =>
      !isEarly && partSizes(sizeBytes).length === 1 ? null : newToken(randomBytes),
    sign: (file, uploadId, _holder, places) => signParts(container, file, uploadId, places),
    complete: (file, uploadId, etags) => commitBlocks(container, file, uploadId, etags.length),
    // Azure discards uncommitted blocks after a week (Put Block, remarks).
    abort: async () => {},
  };
}

/** The URL of a blob, for clients and for requests. */
export const azureUrl = (storage: StorageOf<"azure">, objectName: string): string =>
  blobUrl(storage, joinPath(storage.path, objectName));

/** The URL of the blob with this name. */
export const blobUrl = ({ endpoint, container }: AzureContainer, blob: string): string =>
  `${endpoint}/${encodePath(container)}/${encodePath(blob)}`;

/** Azure may take long to commit a list of hundreds of blocks. */
const COMMIT_LIMIT_MS = 5 * 60_000;
/** The client chooses the host, so the size of a response is limited. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** The URL of a blob, signed for writing. */
async function signedUrl({ storage, keys }: Container, objectName: string): Promise<URL> {
  const blob = joinPath(storage.path, objectName);
  const permission = { blob, permissions: "w", expiresAt: Date.now() + SIGNED_MS } as const;
  const sas = await blobSas(storage, permission, keys.secretAccessKey);
  return new URL(`${azureUrl(storage, objectName)}?${sas}`);
}

/** Signed PUTs for all parts: one Put Blob, or a Put Block each. All have the same signature. */
async function signParts(
  container: Container,
  file: FileToStore,
  uploadId: string | null,
  places: readonly PartPlace[] = placesOf(uploadId === null ? [file.sizeBytes] : partSizes(file.sizeBytes)),
): Promise<UploadPart[]> {
  const signed = await signedUrl(container, file.objectName);
  return places.map(({ number, offset, sizeBytes }) => {
    const url = new URL(signed);
    if (uploadId !== null) {
      url.searchParams.set("comp", "block");
      url.searchParams.set("blockid", blockId(uploadId, number));
    }
    const headers = uploadId === null ? blobHeaders(container, file) : {};
    return { url: url.href, headers, offset, sizeBytes };
  });
}

/** Block ids of one blob must have the same length, at most 64 bytes before encoding (Put Block). */
const blockId = (uploadId: string, number: number): string => btoa(`${uploadId}.${String(number).padStart(5, "0")}`);

const blobHeaders = ({ storage }: Container, file: FileToStore): Record<string, string> => ({
  "content-type": file.contentType,
  "x-ms-blob-type": "BlockBlob",
  ...propertiesOf(storage, file),
});

function propertiesOf(storage: StorageOf<"azure">, file: FileToStore): Record<string, string> {
  const cacheControl = file.isGrowing ? file.cacheControl : (storage.cacheControl ?? file.cacheControl);
  const type = { "x-ms-blob-content-type": file.contentType };
  return cacheControl === null ? type : { ...type, "x-ms-blob-cache-control": cacheControl };
}

/** Commits the blocks of an upload. Blocks that the blob already has may be committed again. */
async function commitBlocks(container: Container, file: FileToStore, uploadId: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => blockId(uploadId, index + 1));
  const latest = ids.map((id) => `<Latest>${id}</Latest>`).join("");
  const url = await signedUrl(container, file.objectName);
  url.searchParams.set("comp", "blocklist");
  const headers = { "content-type": "application/xml", ...propertiesOf(container.storage, file) };
  const body = `<?xml version="1.0" encoding="utf-8"?><BlockList>${latest}</BlockList>`;
  await send(container, new Request(url, { method: "PUT", headers, body }));
}

/** No blob has this ETag. Azure checks everything except the content of a Put Blob, and then rejects it. */
const NO_ETAG = '"0x0"';

/**
 * Throws if Azure rejects the signature or the container. Azure checks the condition after them: a failed condition
 * means success.
 */
async function checkContainer(container: Container, file: FileToStore): Promise<null> {
  const url = await signedUrl(container, file.objectName);
  const headers = { ...blobHeaders(container, file), "if-match": NO_ETAG };
  try {
    await send(container, new Request(url, { method: "PUT", headers, body: "" }), CHECK_LIMIT_MS);
  } catch (error) {
    if (!(error instanceof StorageRejection) || error.serviceCode !== "ConditionNotMet") throw error;
  }
  return null;
}

async function send({ allow }: Container, request: Request, limitMs: number = COMMIT_LIMIT_MS): Promise<void> {
  requireAllowed(request.url, allow);
  try {
    await fetchWithin(limitMs, request, async (response) => {
      const body = await readLimited(response.body, MAX_RESPONSE_BYTES);
      if (!response.ok) throw storageRejection({ status: response.status, body: new TextDecoder().decode(body) });
    });
  } catch (error) {
    if (error instanceof AppError && error.code.startsWith("storage_")) throw error;
    throw new NoStorageResponse(request.url, error);
  }
}
