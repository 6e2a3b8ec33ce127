// A client's upload URL: one POST of multipart/form-data per file, sent by nodes.

import type { JobId } from "#shared/ids.ts";
import { joinPath } from "#shared/job/object-name.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { UploadForm, UploadPart } from "#shared/protocol/uploads.ts";
import type { AccessKeys, StorageOf } from "#shared/request/storage/storage-spec.ts";
import { basicHeader } from "../http-client/basic-header.ts";
import { fetchWithin } from "../http-client/fetch-within.ts";
import { encodePath } from "./encode-path.ts";
import { CHECK_LIMIT_MS, type FileToStore, type ObjectStore } from "./object-store.ts";
import { NoStorageResponse, requireAllowed } from "./storage-errors.ts";

/** The form field of the file (api-v2 §7). */
const FIELD = "encoded_video";

type Target = {
  readonly jobId: JobId;
  readonly storage: StorageOf<"http">;
  /** User and password for Basic authentication; null if the URL has none. */
  readonly keys: AccessKeys | null;
  /** Hosts to which requests may go. */
  readonly allow: AllowPrivate;
};

/** A job's storage behind an upload URL. */
export function httpStore(target: Target): ObjectStore {
  return {
    partSizes: (sizeBytes) => [sizeBytes],
    check: () => checkHost(target.storage.url, target.allow),
    begin: async () => null,
    sign: async (file) => [partOf(target, file)],
    // Each POST stores a file: there is nothing to complete or abort.
    complete: async () => {},
    abort: async () => {},
  };
}

/** The URL of the POST for a file: below the storage's own path, with the storage's query at the end. */
export function httpUrl({ url }: StorageOf<"http">, objectName: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname.replace(/(?<!\/)\/+$/, "")}/${encodePath(joinPath("", objectName))}${search}`;
}

function partOf({ jobId, storage, keys }: Target, file: FileToStore): UploadPart {
  const { objectName, contentType, sizeBytes } = file;
  const fileName = objectName.slice(objectName.lastIndexOf("/") + 1);
  return {
    url: httpUrl(storage, objectName),
    headers: keys ? { authorization: basicHeader(keys) } : {},
    offset: 0,
    sizeBytes,
    form: { name: FIELD, fileName, contentType, fields: fieldsOf(jobId, file) },
  };
}

/**
 * The form fields besides the file (docs/storage.md). Only videos have `video_id`, so that receivers can distinguish
 * videos from images.
 */
function fieldsOf(jobId: JobId, { output: { key, type } }: FileToStore): UploadForm["fields"] {
  const ofVideo = type === "video" ? { video_id: key, encoded_video_id: key } : {};
  const values = { job_id: jobId, output_key: key, output_type: type, ...ofVideo };
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

/**
 * Accepts any response: only a POST shows how the server handles a POST. Throws NoStorageResponse if no response
 * arrives.
 */
async function checkHost(url: string, allow: AllowPrivate): Promise<null> {
  requireAllowed(url, allow);
  const request = new Request(`${new URL(url).origin}/`, {
    // Not HEAD: on Cloudflare, only the body reveals some connection failures.
    method: "GET",
  });
  try {
    return await fetchWithin(CHECK_LIMIT_MS, request, async (response) => {
      await response.body?.cancel();
      return null;
    });
  } catch (error) {
    throw new NoStorageResponse(url, error, "form");
  }
}
