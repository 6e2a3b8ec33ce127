// Opens files that a run of ffmpeg wrote. A source may have taken over the run, which can then leave anything under the
// name of an output: a link to a file of this machine, or a named pipe that blocks the opener.

import { constants } from "node:fs";
import { type FileHandle, lstat, open, rm } from "node:fs/promises";
import { errorCode } from "#shared/log.ts";

/** Follows no link, and waits for no pipe. */
const CAREFULLY = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const READABLE_BY_ALL = 0o444;

/**
 * Opens a regular file with a single name; `flags` as for open(2). Throws the error of the file system (ELOOP for a
 * link), and an Error for pipes, folders, devices, and files with further names.
 */
export async function openFile(path: string, flags: number = constants.O_RDONLY): Promise<FileHandle> {
  const file = await open(path, flags | CAREFULLY);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error("It is no regular file");
    // A file that has just been removed has no name.
    if (stats.nlink > 1) throw new Error("The file has further names");
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Null when the file does not exist; otherwise as `openFile`. */
export async function openIfThere(path: string): Promise<FileHandle | null> {
  return openFile(path).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
}

/**
 * Creates an empty file in place of whatever has its name, and opens it for writing. Runs of other users can read the
 * file with mode 0o644. Throws the error of the file system.
 */
export async function createFile(path: string, mode = 0o600): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
}

/** Writes a text as `createFile` does. */
export async function writeText(path: string, text: string, mode?: number): Promise<void> {
  const file = await createFile(path, mode);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

/** Returns the bytes of an open file and closes it. A run can leave a file of any size: throws above `maxBytes`. */
export async function bytesOf(file: FileHandle, maxBytes: number): Promise<Buffer> {
  // `end` is inclusive.
  const bytes = Buffer.concat(await file.createReadStream({ end: maxBytes }).toArray());
  if (bytes.length > maxBytes) throw new Error(`The file has more than ${maxBytes} bytes`);
  return bytes;
}

/** Throws as `openFile` and `bytesOf`. */
export const readBytes = async (path: string, maxBytes: number): Promise<Buffer> =>
  bytesOf(await openFile(path), maxBytes);

export const readText = async (path: string, maxBytes: number): Promise<string> =>
  (await readBytes(path, maxBytes)).toString();

/** Returns the last bytes of a file as text: at most `maxBytes`. Throws as `openFile`. */
export async function readEnd(path: string, maxBytes: number): Promise<string> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(maxBytes),
      position: Math.max(0, size - maxBytes),
    });
    return buffer.subarray(0, bytesRead).toString();
  } finally {
    await file.close();
  }
}

/**
 * Lets the users of runs read a file in a folder of this node that is closed to other users. Pipes stay unchanged:
 * opening a pipe would look like a reader.
 */
export async function makeReadable(path: string): Promise<void> {
  const stats = await lstat(path);
  if (!stats.isFile() || (stats.mode & READABLE_BY_ALL) === READABLE_BY_ALL) return;
  const file = await openFile(path);
  try {
    await file.chmod((stats.mode & 0o777) | READABLE_BY_ALL);
  } finally {
    await file.close();
  }
}
