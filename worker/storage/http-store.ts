// A client's own upload address: one POST of multipart/form-data per file, which nodes send themselves.
import { joinPath } from "#shared/object-name.ts";
import type { UploadPart } from "#shared/protocol.ts";
import type { AccessKeys, StorageOf } from "#shared/request/storage-spec.ts";
import { basicHeader } from "./basic-header.ts";
import { encodePath } from "./encode-path.ts";
import type { FileToStore, ObjectStore } from "./object-store.ts";

/** The field that the file is in (api-v2 §7). */
const FIELD = "encoded_video";

/** A job's storage behind an upload address. `keys` are the user and password of its Basic header, if it wants one. */
export function httpStore(storage: StorageOf<"http">, keys: AccessKeys | null): ObjectStore {
  return {
    partSizes: (sizeBytes) => [sizeBytes],
    begin: async () => null,
    sign: async (file) => [partOf(storage, keys, file)],
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

function partOf(storage: StorageOf<"http">, keys: AccessKeys | null, file: FileToStore): UploadPart {
  const { objectName, contentType, sizeBytes } = file;
  const fileName = objectName.slice(objectName.lastIndexOf("/") + 1);
  return {
    url: httpUrl(storage, objectName),
    headers: keys ? { authorization: basicHeader(keys) } : {},
    offset: 0,
    sizeBytes,
    form: { name: FIELD, fileName, contentType },
  };
}
