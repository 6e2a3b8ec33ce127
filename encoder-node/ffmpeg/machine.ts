// What this machine has to give to a run of ffmpeg.
import { statfs } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import type { Machine } from "./limits.ts";

/** `folder` is where the run writes, null if nowhere. Memory is that of the container where one has a limit of its own. */
export async function thisMachine(folder: string | null): Promise<Machine> {
  const contained = process.constrainedMemory();
  const memoryBytes = contained > 0 ? Math.min(contained, totalmem()) : totalmem();
  const free = folder === null ? Number.POSITIVE_INFINITY : await freeBytes(folder);
  return { cpus: availableParallelism(), memoryBytes, freeBytes: free };
}

/** On the folder's disk, for this user; `Infinity` when the system does not tell. */
export async function freeBytes(folder: string): Promise<number> {
  return statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  );
}
