// A job's folder in the scratch bucket: signs requests for nodes, and removes the folder.

import { AppError } from "#shared/errors.ts";
import type { JobId } from "#shared/ids.ts";
import type { ScratchName } from "#shared/protocol/scratch.ts";
import type { UploadPart } from "#shared/protocol/uploads.ts";
import type { ScratchSettings } from "../../settings.ts";
import { SIGNED_MS } from "../upload-limits.ts";
import { presign, presignPut, type S3Client, sendS3 } from "./s3-requests.ts";
import { keyUrl } from "./s3-urls.ts";

export interface ScratchStore {
  /** A signed PUT for the whole object. */
  put(name: ScratchName, sizeBytes: number): Promise<UploadPart>;
  /** A signed URL for a PUT of any size: only the name of the object is known. */
  putAny(name: ScratchName): Promise<string>;
  /** A signed URL to GET the object. */
  get(name: ScratchName): Promise<string>;
  /** Removes everything in the folder. Throws AppError(storage_*). */
  clear(): Promise<void>;
}

/** The folder of all scratch objects. It must contain nothing else, because jobs delete its objects. */
export const SCRATCH_FOLDER = "copra-scratch";
/** S3's limit for a single PUT (PutObject, API reference). */
export const MAX_SCRATCH_BYTES = 5 * 2 ** 30;
/** A page of keys must fit into the maximum size of a response. Each key takes about 400 bytes of XML. */
const PAGE_KEYS = 100;

/** A job numbers its folders: it never writes again to a folder that is being removed. */
export function openScratch({ bucket, keys }: ScratchSettings, job: JobId, folder: number): ScratchStore {
  const signer: S3Client = { region: bucket.region, keys, allow: null };
  const root = `${SCRATCH_FOLDER}/${job}/${folder}/`;
  const urlOf = (name: string): string => keyUrl(bucket, root + name);
  const seconds = SIGNED_MS / 1000;
  return {
    put: async (name, sizeBytes) => {
      const url = await presignPut(signer, urlOf(name), { sizeBytes, seconds });
      return { url, headers: {}, offset: 0, sizeBytes };
    },
    putAny: (name) => presign(signer, urlOf(name), { method: "PUT", seconds }),
    get: (name) => presign(signer, urlOf(name), { method: "GET", seconds }),
    clear: async () => {
      const bucketUrl = keyUrl(bucket, "").slice(0, -1);
      for (;;) {
        // The listed objects are deleted before the next list, so each list starts at the first object.
        const keys = await listKeys(signer, bucketUrl, root);
        if (keys.length === 0) return;
        await deleteKeys(signer, bucketUrl, keys);
      }
    },
  };
}

/** A page of keys with a prefix (ListObjects: its second version only adds tokens for further pages). */
async function listKeys(signer: S3Client, bucketUrl: string, prefix: string): Promise<string[]> {
  const query = new URLSearchParams({ "max-keys": String(PAGE_KEYS), prefix });
  const xml = await sendS3(signer, `${bucketUrl}?${query}`, { method: "GET" });
  const keys = [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key);
  // Names need no escapes in XML (ScratchName), so a key with another prefix belongs to another job.
  if (keys.some((key) => !key.startsWith(prefix))) {
    throw new AppError("storage_unreachable", "The scratch bucket lists objects outside the requested folder");
  }
  return keys;
}

/**
 * Sends DeleteObjects, which requires the MD5 of its body. A quiet response contains only errors; `sendS3` throws them.
 */
async function deleteKeys(signer: S3Client, bucketUrl: string, keys: readonly string[]): Promise<void> {
  const objects = keys.map((key) => `<Object><Key>${key}</Key></Object>`).join("");
  const body = `<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`;
  const digest = await crypto.subtle.digest("MD5", new TextEncoder().encode(body));
  const md5 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const headers = { "content-type": "application/xml", "content-md5": md5 };
  await sendS3(signer, `${bucketUrl}?delete=`, { method: "POST", headers, body });
}
