// The links to files in folders of the operator, and the files that they mean. A sandbox mounts such a file only if it
// is still the same file.
import type { BigIntStats } from "node:fs";

const linked = new Map<string, string>();

/** Device and inode of a file, as `stat -c %d:%i` prints them. */
export const inodeOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/** Notes the file of a link. */
export const link = (path: string, file: BigIntStats): unknown => linked.set(path, inodeOf(file));

export const unlink = (path: string): unknown => linked.delete(path);

/** Device and inode of the file; undefined for a path that is no link. */
export const linkedFile = (path: string): string | undefined => linked.get(path);
