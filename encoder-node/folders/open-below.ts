// Opens files below a folder of the operator, and never leaves the folder: each part of the path is opened relative to
// the part before it, and no link is followed. Others may change the folder meanwhile.

import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "#shared/log.ts";
import { O_PATH, pathOf } from "../run-files/remove-tree.ts";
import { isMountPoint, type NodeFolder } from "./node-folders.ts";

const isLinux = process.platform === "linux";
const FOLDER = (isLinux ? O_PATH : constants.O_RDONLY) | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A folder while it is open. */
type Opened = { readonly handle: FileHandle; readonly path: string };

/** A folder while it is open. `below`: the names of the folders that lead to it. */
export type Parent = { readonly path: string; readonly below: readonly string[] };

/** `nearest`: if the folder does not exist, the work gets the folder that would contain it. */
export type MissingFolders = "created" | "required" | "nearest";

/**
 * Outside of Linux, files have no path relative to an open folder: a link that replaces a folder during the work is
 * then followed.
 */
async function openFolder(path: string): Promise<Opened> {
  const handle = await open(path, FOLDER);
  return { handle, path: isLinux ? pathOf(handle) : path };
}

/**
 * Runs work on the folder that contains a file. Throws the error of the file system (ENOTDIR for a link), and ENODEV if
 * the file system of the folder is not mounted any more.
 */
export async function inParent<Value>(
  { root, isMount }: NodeFolder,
  path: string,
  folders: MissingFolders,
  work: (parent: Parent, name: string) => Promise<Value>,
): Promise<Value> {
  if (isMount && !(await isMountPoint(root))) throw Object.assign(new Error("Not mounted"), { code: "ENODEV" });
  const names = path.split("/");
  const name = names.pop() ?? "";
  const below: string[] = [];
  let parent = await openFolder(root);
  try {
    for (const each of names) {
      const next = join(parent.path, each);
      if (folders === "created") await mkdir(next).catch(unlessExists);
      const opened = await openFolder(next).catch((error: unknown) => {
        if (folders === "nearest" && errorCode(error) === "ENOENT") return null;
        throw error;
      });
      if (!opened) return await work({ path: parent.path, below }, each);
      await parent.handle.close();
      parent = opened;
      below.push(each);
    }
    return await work({ path: parent.path, below }, name);
  } finally {
    await parent.handle.close();
  }
}

function unlessExists(error: unknown): void {
  if (errorCode(error) !== "EEXIST") throw error;
}
