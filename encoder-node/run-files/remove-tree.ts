// Removes the folder of a run with all its content, and anything else that a run made.

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, type FileHandle, open, readdir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "#shared/log.ts";

/** O_PATH of Linux (open(2)), which Node does not name: opens a folder of any mode. */
export const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A killed process needs some time to end, and can create files until then. */
const TRIES = 20;
const AGAIN_MS = 50;

/**
 * Removes a file, or a folder of any depth and mode, and no file outside. Node's `rm` would follow a link that replaces
 * a folder during its work, and cannot remove paths that are too long. Each folder is opened once, and its entries are
 * named relative to it. Its subfolders are moved to its parent, which only this node can change, and are removed there.
 */
export async function removeTree(path: string): Promise<void> {
  if (process.platform !== "linux") return rm(path, { recursive: true, force: true, maxRetries: 3 });
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!(await isUnlinked(next))) waiting.push(...(await removeFolder(next)));
  }
}

/** False for a folder. */
const isUnlinked = (path: string | Buffer): Promise<boolean> =>
  unlink(path).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === "EISDIR") return false;
      throw error;
    },
  );

/** Returns the new paths of the folders that were in it. */
async function removeFolder(path: string): Promise<string[]> {
  const moved: string[] = [];
  for (let left = TRIES; ; left--) {
    await empty(path, moved);
    try {
      await rmdir(path);
      return moved;
    } catch (error) {
      if (left === 0 || errorCode(error) !== "ENOTEMPTY") throw error;
    }
    await sleep(AGAIN_MS);
  }
}

async function empty(path: string, moved: string[]): Promise<void> {
  const folder = await open(path, FOLDER);
  try {
    const within = pathOf(folder);
    await allow(folder);
    // Names need not be UTF-8.
    for (const name of await readdir(within, { encoding: "buffer" })) {
      const entry = Buffer.concat([Buffer.from(`${within}/`), name]);
      try {
        if (!(await isUnlinked(entry))) moved.push(await moveOut(entry, dirname(path)));
      } catch {
        // A process that has not ended yet has changed the folder. The removal is tried again, because the folder is
        // not empty.
      }
    }
  } finally {
    await folder.close();
  }
}

/** A moved folder must be writable for its owner, because its `..` changes. */
async function moveOut(entry: Buffer, to: string): Promise<string> {
  await openUp(entry);
  const target = join(to, `removed-${randomUUID()}`);
  await rename(entry, target);
  return target;
}

/** Lets this node list a folder and change its entries, with any mode that the run gave it. */
export async function openUp(path: string | Buffer): Promise<void> {
  if (process.platform !== "linux") return;
  const folder = await open(path, FOLDER);
  try {
    await allow(folder);
  } finally {
    await folder.close();
  }
}

/** Uses the path of the open folder: fchmod(2) rejects a folder that was opened by O_PATH. */
const allow = (folder: FileHandle): Promise<void> => chmod(pathOf(folder), 0o700);
/** The path of an open file or folder, whatever its name is meanwhile. Only for Linux. */
export const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;
