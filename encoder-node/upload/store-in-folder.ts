// Stores files in folders of the operator: under a temporary name in the same folder, then renamed.
import { lstat, rename } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import { type NodeFolders, placeOf } from "../folders/node-folders.ts";
import { inParent } from "../folders/open-below.ts";
import { withTemporary } from "../folders/temporary-files.ts";
import type { Content } from "./content.ts";
import { StorageDown } from "./put-part.ts";

export type FolderUpload = {
  readonly content: Content;
  readonly folders: NodeFolders;
  readonly signal: AbortSignal;
  readonly onProgress?: ((bytesStored: number) => void) | undefined;
};

/** A disk with less space than this fails before the encode, not after it. */
const CHECKED_BYTES = 1024 * 1024;

/**
 * Stores a file at a `folder://` URL, and replaces a file there. Throws AppError `storage_denied`, `storage_unreachable`,
 * and `node_failed` if this node lacks the folder. An abort rejects with the signal's reason.
 */
export async function storeInFolder(
  url: string,
  { content, folders, signal, onProgress }: FolderUpload,
): Promise<void> {
  const { at, path } = writablePlace(url, folders);
  try {
    await inParent(at, path, "created", async (parent, name) => {
      await withTemporary(at, parent, async (file, temporary) => {
        let stored = 0;
        for await (const bytes of content.read(0, content.sizeBytes)) {
          signal.throwIfAborted();
          await file.writeFile(bytes);
          stored += bytes.length;
          onProgress?.(stored);
        }
        // Network shares report a full disk as late as here.
        await file.sync();
        await file.close();
        await rename(temporary, join(parent.path, name));
      });
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AppError ? error : storageFailure(at.name, error);
  }
}

/**
 * Checks that a file can be stored at a `folder://` URL, without a trace. Throws as `storeInFolder`. Missing folders are
 * not created.
 */
export async function checkFolder(url: string, folders: NodeFolders): Promise<void> {
  const { at, path } = writablePlace(url, folders);
  try {
    await inParent(at, path, "nearest", async (parent, name) => {
      const isWhole = parent.below.length === path.split("/").length - 1;
      const stats = isWhole ? await lstat(join(parent.path, name)).catch(() => null) : null;
      if (stats?.isDirectory()) throw Object.assign(new Error("A folder"), { code: "EISDIR" });
      await withTemporary(at, parent, async (file) => {
        await file.writeFile(Buffer.alloc(CHECKED_BYTES));
        await file.sync();
      });
    });
  } catch (error) {
    throw error instanceof AppError ? error : storageFailure(at.name, error);
  }
}

function writablePlace(url: string, folders: NodeFolders) {
  const place = placeOf(url, folders);
  if (place?.at.isWritable) return place;
  throw new AppError("node_failed", "The node cannot write to the folder of the storage");
}

/** The reasons that retries do not change, by the code of the file system. */
const FINAL: Readonly<Record<string, string>> = {
  ENOSPC: "is full; free some space and retry the job",
  EDQUOT: "has no quota left; free some space and retry the job",
  EROFS: "is read-only",
  EACCES: "does not permit the node to write; check its permissions",
  EPERM: "does not permit the node to write; check its permissions",
  ENOTDIR: "has a file or a symbolic link in place of a folder of the path; nodes follow no links in folders",
  EISDIR: "has a folder with the name of the file",
  ENOTEMPTY: "has a folder with the name of the file",
  EEXIST: "has a folder with the name of the file",
  ENAMETOOLONG: "does not permit a name as long as the path",
  EFBIG: "does not permit a file of this size",
  EINVAL: "does not permit a character of the path",
};

function storageFailure(folder: string, cause: unknown): AppError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "no reason given";
  const problem = Object.hasOwn(FINAL, code) ? FINAL[code] : undefined;
  if (problem) return new AppError("storage_denied", `The folder \`${folder}\` ${problem}.`, { cause });
  const reason = code === "ENODEV" ? "is not mounted on the node" : `cannot be written to (${code})`;
  return new StorageDown(
    new AppError("storage_unreachable", `The folder \`${folder}\` ${reason}; try again later.`, { cause }),
  );
}
