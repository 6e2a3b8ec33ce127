// A snapshot of a data folder: its files at one time, also while the service runs.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { errorCode } from "#shared/log.ts";
import { VERSION } from "#shared/version.ts";
import { ROOT } from "../home/constants.ts";
import { readStackFile } from "../home/stack-file.ts";
import { whileFrozen } from "../processes/frozen.ts";
import { runningStackPid } from "../processes/process-record.ts";
import { type Copied, copyData } from "./data-files.ts";
import { appliedMigrations } from "./databases.ts";

export const Manifest = z.object({
  format: z.literal(1, "the backup was made by a newer version"),
  /** The version that took the snapshot. */
  version: z.string(),
  createdAt: z.string(),
  /** The migrations of its database. */
  migrations: z.array(z.string()),
});
export type Manifest = z.infer<typeof Manifest>;

export const MANIFEST = "manifest.json";

/** The migrations of this version. */
export const ownMigrations = (): string[] =>
  readdirSync(join(ROOT, "migrations")).filter((name) => name.endsWith(".sql"));

export type Snapshot = {
  readonly manifest: Manifest;
  readonly files: number;
  /** The time for which the service was frozen, in ms; 0 if it did not run. */
  readonly frozenMs: number;
};

/**
 * Copies a data folder to a new folder on the same file system. The control plane and the S3 server of a running
 * service are frozen while recent changes are copied. The copy equals the data after a loss of power, which the service
 * survives (docs/promises.md).
 */
export function takeSnapshot(home: string, folder: string, now: Date): Snapshot {
  const pids = runningPids(home);
  try {
    // Most files do not change any more, such as files of ended jobs. The early copy of them freezes nobody.
    const early = pids.length === 0 ? new Map() : earlyCopy(home, folder);
    const startedAt = performance.now();
    const files = whileFrozen(pids, () => copyData(home, folder, early));
    const frozenMs = pids.length === 0 ? 0 : performance.now() - startedAt;
    const migrations = appliedMigrations(folder);
    const manifest: Manifest = { format: 1, version: VERSION, createdAt: now.toISOString(), migrations };
    writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    return { manifest, files: files.size, frozenMs };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Copies data before the freeze. Empty if a folder is deleted during the copy. */
function earlyCopy(home: string, folder: string): Copied {
  try {
    return copyData(home, folder);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    rmSync(folder, { recursive: true, force: true });
    return new Map();
  }
}

/** The processes that change the files. Throws a message for people while a service is starting or stopping. */
function runningPids(home: string): number[] {
  if (runningStackPid(home) === null) return [];
  const stack = readStackFile(home);
  if (stack === null) throw new Error(`The service in ${home} is starting or stopping. Try again in a minute.`);
  return [stack.pids.controlPlane, stack.pids.s3].filter((pid) => pid > 0);
}

/** Throws a message for people if the folder is not a snapshot that this version can read. */
export function readManifest(folder: string): Manifest {
  let text: string;
  try {
    text = readFileSync(join(folder, MANIFEST), "utf8");
  } catch {
    throw new Error(`${folder} is not a backup: it has no ${MANIFEST}`);
  }
  const manifest = Manifest.parse(JSON.parse(text));
  const known = new Set(ownMigrations());
  const unknown = manifest.migrations.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new Error(
      `The backup was made by version ${manifest.version}, which is newer than this version (${VERSION}): its database has ` +
        `${unknown.join(", ")}. Update Copra first.`,
    );
  }
  return manifest;
}
