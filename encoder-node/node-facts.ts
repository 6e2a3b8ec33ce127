// Facts that a node states about itself and its machine when it connects.
import { readFileSync, statfsSync } from "node:fs";
import { hostname } from "node:os";
import * as z from "zod";
import type { NodeDisk, NodeFrameOf } from "#shared/protocol/frames.ts";
import { MAX_DISK_BYTES, MAX_HOST_CHARS } from "#shared/report-limits.ts";
import type { NodeConfig } from "./config.ts";

export type NodeFacts = Pick<
  NodeFrameOf<"hello">,
  "host" | "version" | "pool" | "labels" | "spot" | "disk" | "notReady"
>;

const Manifest = z.object({ version: z.string() });

/** The version of this program. */
export const VERSION = Manifest.parse(
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")),
).version;

/** Returns the present facts: the free space changes. */
export function nodeFacts({ workFolder, pool, labels, spot }: NodeConfig, notReady: readonly string[]): NodeFacts {
  const disk = diskOf(workFolder);
  return {
    host: hostname().slice(0, MAX_HOST_CHARS),
    version: VERSION,
    ...(pool === null ? {} : { pool }),
    labels: [...labels],
    spot,
    notReady: [...notReady],
    ...(disk ? { disk } : {}),
  };
}

/** Returns the disk of a folder, for this user; null when the system does not report it. */
export function diskOf(folder: string): NodeDisk | null {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    const bytes = (count: number): number => Math.min(count * bsize, MAX_DISK_BYTES);
    return { free: bytes(bavail), total: bytes(blocks) };
  } catch {
    return null;
  }
}
