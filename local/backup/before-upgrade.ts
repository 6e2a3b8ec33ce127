// Keeps a snapshot of the data before a new version changes it.
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { VERSION } from "#shared/version.ts";
import { readPrivateJson, writePrivateJson } from "../home/private-file.ts";
import { appliedMigrations } from "./databases.ts";
import { stamp } from "./restore-data.ts";
import { ownMigrations, takeSnapshot } from "./snapshot.ts";

const Started = z.object({ version: z.string() });
/** How many snapshots are kept. */
const KEPT = 3;

/**
 * Takes a snapshot of the data folder if this version differs from the one that last started with it, or has new
 * migrations. The service must not run. Throws a message for people if the database is newer than this version.
 */
export function snapshotBeforeUpgrade(home: string, now: Date): string | null {
  const file = join(home, "version.json");
  const last = readPrivateJson(file, Started)?.version ?? null;
  const applied = appliedMigrations(home);
  const own = ownMigrations();
  const unknown = applied.filter((name) => !own.includes(name));
  if (unknown.length > 0) {
    throw new Error(
      `The data in ${home} is of a newer version${last === null ? "" : ` (${last})`}: its database has ` +
        `${unknown.join(", ")}, which ${VERSION} does not know. Start that version, or restore a backup.`,
    );
  }
  const isNew = applied.length === 0;
  const isSame = last === VERSION && own.every((name) => applied.includes(name));
  const folder = isNew || isSame ? null : join(home, "snapshots", `${stamp(now)}-before-${VERSION}`);
  if (folder !== null && !existsSync(folder)) {
    mkdirSync(join(home, "snapshots"), { recursive: true, mode: 0o700 });
    takeSnapshot(home, folder, now);
    removeOld(join(home, "snapshots"));
  }
  writePrivateJson(file, { version: VERSION });
  return folder;
}

function removeOld(folder: string): void {
  const oldest = readdirSync(folder).sort().slice(0, -KEPT);
  for (const name of oldest) rmSync(join(folder, name), { recursive: true });
}
