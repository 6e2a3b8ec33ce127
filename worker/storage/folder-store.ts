// A job's storage in a folder on nodes. The node that makes a file also stores it, so nothing is signed.
import { folderUrl } from "#shared/job/folder-url.ts";
import { joinPath } from "#shared/job/object-name.ts";
import type { StorageOf } from "#shared/request/storage/storage-spec.ts";
import type { ObjectStore } from "./object-store.ts";

/** The URL of a file for nodes and clients: `folder://media/out/720p.mp4`. */
export const storedFolderUrl = ({ folder, path }: StorageOf<"folder">, objectName: string): string =>
  folderUrl({ folder, path: joinPath(path, objectName) });

export const folderStore = (storage: StorageOf<"folder">): ObjectStore => ({
  partSizes: (sizeBytes) => [sizeBytes],
  // Only nodes can check the folder.
  check: async () => null,
  begin: async () => null,
  sign: async ({ objectName, sizeBytes }) => [
    { url: storedFolderUrl(storage, objectName), headers: {}, offset: 0, sizeBytes },
  ],
  complete: async () => {},
  abort: async () => {},
});
