// A job's folder in the scratch bucket: signed requests for nodes, and its removal.

import { AppError } from "#shared/errors.ts";
import type { JobId } from "#shared/ids.ts";
import type { ScratchName } from "#shared/protocol/chunking.ts";
import type { UploadPart } from "#shared/protocol/protocol.ts";
import { type Asker, ask, presign, presignPut } from "../s3/s3-requests.ts";
import { keyUrl } from "../s3/s3-urls.ts";
import { SIGNED_MS } from "../signed-life.ts";
import type { ScratchSettings } from "./scratch-settings.ts";

export interface ScratchStore {
  /** One signed PUT for the whole object. */
  put(name: ScratchName, sizeBytes: number): Promise<UploadPart>;
  /** A signed address to GET the object from. */
  get(name: ScratchName): Promise<string>;
  /** Removes everything in the folder; an empty one is fine. Throws AppError(storage_*). */
  clear(): Promise<void>;
}

/** S3's limit for one PUT (PutObject, API reference). */
export const MAX_SCRATCH_BYTES = 5 * 2 ** 30;
/** A page of keys must fit into what is read of an answer, some 400 bytes of XML each. */
const PAGE_KEYS = 100;

/** Folders are numbered within a job: one that is being removed is never written to again. */
export function openScratch({ bucket, keys, prefix }: ScratchSettings, job: JobId, folder: number): ScratchStore {
  const signer: Asker = { region: bucket.region, keys, allow: null, derivedKeys: new Map() };
  const root = `${prefix}/${job}/${folder}/`;
  const urlOf = (name: string): string => keyUrl(bucket, root + name);
  const seconds = SIGNED_MS / 1000;
  return {
    put: async (name, sizeBytes) => {
      const url = await presignPut(signer, urlOf(name), { sizeBytes, seconds });
      return { url, headers: {}, offset: 0, sizeBytes };
    },
    get: (name) => presign(signer, urlOf(name), { method: "GET", seconds }),
    clear: async () => {
      const bucketUrl = keyUrl(bucket, "").slice(0, -1);
      for (;;) {
        // What was listed is gone before the next look, so each look begins at the front.
        const found = await listKeys(signer, bucketUrl, root);
        if (found.length === 0) return;
        await deleteKeys(signer, bucketUrl, found);
      }
    },
  };
}

/** Some keys that begin so (ListObjects: of its second version only the tokens for further pages are new). */
async function listKeys(signer: Asker, bucketUrl: string, prefix: string): Promise<string[]> {
  const query = new URLSearchParams({ "max-keys": String(PAGE_KEYS), prefix });
  const xml = await ask(signer, `${bucketUrl}?${query}`, { method: "GET" });
  const keys = [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key);
  // Names need no escapes in XML (ScratchName), so a key that begins otherwise is not ours.
  if (keys.some((key) => !key.startsWith(prefix))) {
    throw new AppError("storage_unreachable", "The scratch bucket lists other objects than it was asked for");
  }
  return keys;
}

/** DeleteObjects, whose body must come with its MD5; of a quiet answer only errors are left, and `ask` throws those. */
async function deleteKeys(signer: Asker, bucketUrl: string, keys: readonly string[]): Promise<void> {
  const objects = keys.map((key) => `<Object><Key>${key}</Key></Object>`).join("");
  const body = `<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`;
  const digest = await crypto.subtle.digest("MD5", new TextEncoder().encode(body));
  const md5 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const headers = { "content-type": "application/xml", "content-md5": md5 };
  await ask(signer, `${bucketUrl}?delete=`, { method: "POST", headers, body });
}
