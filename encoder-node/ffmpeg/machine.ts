// The resources of this machine that limit a run of ffmpeg.
import { statfs } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import type { Machine } from "./limits.ts";

/** `folder` is the folder that the run writes to, or null. Memory is the container's where it has its own limit. */
export async function thisMachine(folder: string | null): Promise<Machine> {
  const contained = process.constrainedMemory();
  const memoryBytes = contained > 0 ? Math.min(contained, totalmem()) : totalmem();
  const free = folder === null ? Number.POSITIVE_INFINITY : await freeBytes(folder);
  return { cpus: availableParallelism(), memoryBytes, freeBytes: free };
}

/** Free space on the folder's disk for this user; `Infinity` when the system does not report it. */
export async function freeBytes(folder: string): Promise<number> {
  return statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  );
}

/**
 * Files that can still be created on the folder's disk; `Infinity` when its file system has no fixed number of files.
 */
export async function freeFiles(folder: string): Promise<number> {
  return statfs(folder).then(
    ({ files, ffree }) => (files > 0 ? ffree : Number.POSITIVE_INFINITY),
    () => Number.POSITIVE_INFINITY,
  );
}
