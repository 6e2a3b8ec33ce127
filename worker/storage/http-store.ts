// A client's own upload address: one POST of multipart/form-data per file, which nodes send themselves.

import type { JobId } from "#shared/ids.ts";
import { joinPath } from "#shared/job/object-name.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { UploadForm, UploadPart } from "#shared/protocol/protocol.ts";
import type { AccessKeys, StorageOf } from "#shared/request/storage/storage-spec.ts";
import { fetchWithin } from "../fetch-within.ts";
import { requireAllowed } from "./allowed-url.ts";
import { basicHeader } from "./basic-header.ts";
import { encodePath } from "./encode-path.ts";
import { type FileToStore, type ObjectStore, TRIAL_LIMIT_MS } from "./object-store.ts";
import { StorageSilence } from "./storage-unreachable.ts";

/** The field that the file is in (api-v2 §7). */
const FIELD = "encoded_video";

type Target = {
  readonly jobId: JobId;
  readonly storage: StorageOf<"http">;
  /** The user and password of its Basic header, if it wants one. */
  readonly keys: AccessKeys | null;
  /** Where requests may go. */
  readonly allow: AllowPrivate;
};

/** A job's storage behind an upload address. */
export function httpStore(target: Target): ObjectStore {
  return {
    partSizes: (sizeBytes) => [sizeBytes],
    tryOut: () => askHost(target.storage.url, target.allow),
    begin: async () => null,
    sign: async (file) => [partOf(target, file)],
    // There is nothing to put together or to take back: each POST stands for itself.
    complete: async () => {},
    abort: async () => {},
  };
}

/** The address that a file is POSTed to: below the storage's own path, with its query kept behind. */
export function httpUrl({ url }: StorageOf<"http">, objectName: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, "")}/${encodePath(joinPath("", objectName))}${search}`;
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
 * The fields beside a file (docs/storage.md). Receivers tell a video from its poster by `video_id`, which only videos
 * have.
 */
function fieldsOf(jobId: JobId, { output: { key, type } }: FileToStore): UploadForm["fields"] {
  const ofVideo = type === "video" ? { video_id: key, encoded_video_id: key } : {};
  const values = { job_id: jobId, output_key: key, output_type: type, ...ofVideo };
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

/** Any answer is good: what the server does with a POST shows by a POST alone. Throws StorageSilence without one. */
async function askHost(url: string, allow: AllowPrivate): Promise<null> {
  requireAllowed(url, allow);
  const request = new Request(`${new URL(url).origin}/`, {
    method: "HEAD",
    headers: { "user-agent": "copra-upload/1" },
  });
  try {
    return await fetchWithin(TRIAL_LIMIT_MS, request, async (response) => {
      await response.body?.cancel();
      return null;
    });
  } catch (error) {
    throw new StorageSilence(url, error, "form");
  }
}
