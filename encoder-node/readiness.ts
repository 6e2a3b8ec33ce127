// The reasons why a node gets no work that change with time: its hours, and the space on its disk.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { NodeConfig } from "./config.ts";
import { DISK_RESERVE_BYTES } from "./ffmpeg/limits.ts";
import { diskOf } from "./node-facts.ts";
import { outsideOf } from "./working-hours.ts";

/** Folder of sources in the work folder. */
export const SOURCE_FOLDER = "sources";

/** Least free space for sources: with less, hardly any work can be done. */
const LEAST_BYTES = 2 ** 30;

const CHECK_MS = 15_000;

/** The reason why a node has too little disk space for any source. None while it has sources or work. */
export function lowDisk({ workFolder }: Pick<NodeConfig, "workFolder">, isWorking: boolean): string[] {
  const bytes = (diskOf(workFolder)?.free ?? Number.POSITIVE_INFINITY) - DISK_RESERVE_BYTES;
  if (bytes >= LEAST_BYTES || isWorking || filesIn(join(workFolder, SOURCE_FOLDER)).length > 0) return [];
  const has = `its disk has ${Math.max(0, Math.floor(bytes / 1e6))} MB for sources, beside a reserve of 512 MiB`;
  return [`${has}; it needs 1 GiB: free space there, or use another disk (--work)`];
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The reasons of hours and disk. */
export const timedReasons = (config: Pick<NodeConfig, "workFolder" | "hours">, isWorking: boolean): string[] => [
  ...outsideOf(config.hours, new Date()),
  ...lowDisk(config, isWorking),
];

/**
 * Calls `changed` when the reasons change. The clock is read often, instead of a timer over hours: the machine may
 * sleep, and its clock may be set. Returns a function that ends the watch.
 */
export function watchReasons(reasons: () => readonly string[], changed: () => void, everyMs = CHECK_MS): () => void {
  let before = reasons().join("\n");
  const timer = setInterval(() => {
    const now = reasons().join("\n");
    if (now === before) return;
    before = now;
    changed();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
