// The links to files in folders of the operator, and the files that they mean. A sandbox mounts such a file only if it
// is still the same file.
import type { BigIntStats } from "node:fs";

const linked = new Map<string, string>();

/** Notes the file of a link. */
export const link = (path: string, { dev, ino }: BigIntStats): unknown => linked.set(path, `${dev}:${ino}`);

export const unlink = (path: string): unknown => linked.delete(path);

/** Device and inode of the file, as `stat -c %d:%i` prints them; undefined for a path that is no link. */
export const linkedFile = (path: string): string | undefined => linked.get(path);
