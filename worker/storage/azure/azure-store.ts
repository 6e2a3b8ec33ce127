// A container of Azure Blob Storage: nodes put blobs or blocks by signed addresses, the lists of blocks are committed here.

import { AppError } from "#shared/errors.ts";
import { newToken } from "#shared/ids.ts";
import { joinPath } from "#shared/job/object-name.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { StorageRefusal, storageRefusal } from "#shared/network/storage-failure.ts";
import type { UploadPart } from "#shared/protocol/protocol.ts";
import type { AccessKeys, StorageOf } from "#shared/request/storage/storage-spec.ts";
import { fetchWithin } from "../../fetch-within.ts";
import { randomBytes } from "../../random-bytes.ts";
import { readLimited } from "../../read-limited.ts";
import { requireAllowed } from "../allowed-url.ts";
import { encodePath } from "../encode-path.ts";
import { type FileToStore, type ObjectStore, TRIAL_LIMIT_MS } from "../object-store.ts";
import { partSizes } from "../part-sizes.ts";
import { SIGNED_MS } from "../signed-life.ts";
import { StorageSilence } from "../storage-unreachable.ts";
import { writeSas } from "./azure-sas.ts";

type Container = { storage: StorageOf<"azure">; keys: AccessKeys; allow: AllowPrivate };

/** A job's storage in a container of Azure Blob Storage. */
export function azureStore(storage: StorageOf<"azure">, keys: AccessKeys, allow: AllowPrivate): ObjectStore {
  const container = { storage, keys, allow };
  return {
    partSizes: (sizeBytes) => partSizes(sizeBytes),
    tryOut: (file) => tryContainer(container, file),
    // Blocks need no beginning: the id only keeps those of one upload apart from those of others.
    begin: async ({ sizeBytes }) => (partSizes(sizeBytes).length === 1 ? null : newToken(randomBytes)),
    sign: (file, uploadId) => signParts(container, file, uploadId),
    complete: (file, uploadId) => commitBlocks(container, file, uploadId),
    // Azure itself discards blocks that nobody committed within a week (Put Block, remarks).
    abort: async () => {},
  };
}

/** The address of a blob: what clients are shown and what requests are signed for. */
export const azureUrl = ({ endpoint, container, path }: StorageOf<"azure">, objectName: string): string =>
  `${endpoint}/${encodePath(container)}/${encodePath(joinPath(path, objectName))}`;

/** A list of hundreds of blocks may take its time. */
const COMMIT_LIMIT_MS = 5 * 60_000;
/** Answers come from hosts of the client's choosing: no more of them is read than they have to say. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The address of a blob, signed for writing. */
async function signedUrl({ storage, keys }: Container, objectName: string): Promise<URL> {
  const blob = joinPath(storage.path, objectName);
  const sas = await writeSas(storage, { blob, expiresAt: Date.now() + SIGNED_MS }, keys.secretAccessKey);
  return new URL(`${azureUrl(storage, objectName)}?${sas}`);
}

/** Signed PUTs for all parts: one Put Blob, or a Put Block each. One signature serves them all. */
async function signParts(container: Container, file: FileToStore, uploadId: string | null): Promise<UploadPart[]> {
  const signed = await signedUrl(container, file.objectName);
  let offset = 0;
  const sizes = uploadId === null ? [file.sizeBytes] : partSizes(file.sizeBytes);
  return sizes.map((sizeBytes, index) => {
    const url = new URL(signed);
    if (uploadId !== null) {
      url.searchParams.set("comp", "block");
      url.searchParams.set("blockid", blockId(uploadId, index));
    }
    const headers = uploadId === null ? blobHeaders(container, file) : {};
    const part = { url: url.href, headers, offset, sizeBytes };
    offset += sizeBytes;
    return part;
  });
}

/** Block ids of one blob must be equally long, and 64 bytes at the most before they are encoded (Put Block). */
const blockId = (uploadId: string, index: number): string => btoa(`${uploadId}.${String(index + 1).padStart(5, "0")}`);

const blobHeaders = ({ storage }: Container, file: FileToStore): Record<string, string> => ({
  "content-type": file.contentType,
  "x-ms-blob-type": "BlockBlob",
  ...propertiesOf(storage, file),
});

function propertiesOf(storage: StorageOf<"azure">, file: FileToStore): Record<string, string> {
  const cacheControl = storage.cacheControl ?? file.cacheControl;
  return {
    "x-ms-blob-content-type": file.contentType,
    ...(cacheControl === null ? {} : { "x-ms-blob-cache-control": cacheControl }),
  };
}

/** Makes a blob of the blocks of an upload; blocks that are the blob's already are taken again, so twice is fine. */
async function commitBlocks(container: Container, file: FileToStore, uploadId: string): Promise<void> {
  const ids = partSizes(file.sizeBytes).map((_, index) => blockId(uploadId, index));
  const latest = ids.map((id) => `<Latest>${id}</Latest>`).join("");
  const url = await signedUrl(container, file.objectName);
  url.searchParams.set("comp", "blocklist");
  const headers = { "content-type": "application/xml", ...propertiesOf(container.storage, file) };
  const body = `<?xml version="1.0" encoding="utf-8"?><BlockList>${latest}</BlockList>`;
  await send(container, new Request(url, { method: "PUT", headers, body }));
}

/** No blob has this ETag, so that Azure checks all but the content of a Put Blob, and then refuses it. */
const NEVER = '"0x0"';

/** Throws as Azure refuses the signature or the container. A condition that fails comes after those, and is fine. */
async function tryContainer(container: Container, file: FileToStore): Promise<null> {
  const url = await signedUrl(container, file.objectName);
  const headers = { ...blobHeaders(container, file), "if-match": NEVER };
  try {
    await send(container, new Request(url, { method: "PUT", headers, body: "" }), TRIAL_LIMIT_MS);
  } catch (error) {
    if (!(error instanceof StorageRefusal) || error.said !== "ConditionNotMet") throw error;
  }
  return null;
}

async function send({ allow }: Container, request: Request, limitMs: number = COMMIT_LIMIT_MS): Promise<void> {
  requireAllowed(request.url, allow);
  try {
    await fetchWithin(limitMs, request, async (response) => {
      const body = await readLimited(response.body, MAX_ANSWER_BYTES);
      if (!response.ok) throw storageRefusal({ status: response.status, body: new TextDecoder().decode(body) });
    });
  } catch (error) {
    if (error instanceof AppError && error.code.startsWith("storage_")) throw error;
    throw new StorageSilence(request.url, error);
  }
}
