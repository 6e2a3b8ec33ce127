// Opens sources that this process reads itself. Others may change a folder of the operator after its source was found:
// they may leave a pipe there, whose opening waits for ever, or another file.
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";

/**
 * Opens a source by its path on this node. Follows no link except the node's own (`linkSource`). Throws the error of
 * the file system, and AppError `input_unreachable` if it is not the file that was found there.
 */
export async function openSource(path: string): Promise<FileHandle> {
  const linked = linkedFile(path);
  const follow = linked === undefined ? constants.O_NOFOLLOW : 0;
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | follow);
  const stats = await file.stat({ bigint: true });
  if (stats.isFile() && (linked === undefined || linked === inodeOf(stats))) return file;
  await file.close();
  throw new AppError("input_unreachable", "The input was replaced while the job read it; try again.");
}

/** Returns the bytes at the start of a source, `length` at most. Throws as `openSource`. */
export async function readStart(path: string, length: number): Promise<Buffer> {
  const file = await openSource(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

// The links to files in folders of the operator, and the files that they mean. A sandbox mounts such a file only if it
// is still the same file.

const linked = new Map<string, string>();

/** Device and inode of a file, as `stat -c %d:%i` prints them. */
export const inodeOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/** Notes the file of a link. */
export const link = (path: string, file: BigIntStats): unknown => linked.set(path, inodeOf(file));

export const unlink = (path: string): unknown => linked.delete(path);

/** Device and inode of the file; undefined for a path that is no link. */
export const linkedFile = (path: string): string | undefined => linked.get(path);
