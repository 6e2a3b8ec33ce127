// Keeps a snapshot of the data before a new version changes it.
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import * as z from "zod";
import { VERSION } from "#shared/version.ts";
import { readPrivateJson, writePrivateJson } from "../home/private-file.ts";
import { appliedMigrations } from "./databases.ts";
import { stamp } from "./restore-data.ts";
import { ownMigrations, takeSnapshot } from "./snapshot.ts";

/** The versions of the last started service and of its runtime, which decides the format of the databases. */
const Started = z.object({ version: z.string(), miniflare: z.string().optional() });
/** Only the newest snapshots are kept, up to this number. */
const KEPT = 3;

const OWN: { readonly version: string; readonly miniflare: string } = {
  version: VERSION,
  miniflare: (createRequire(import.meta.url)("miniflare/package.json") as { version: string }).version,
};

/**
 * Takes a snapshot of the data folder if this version or its runtime differs from the last start, or if it has new
 * migrations. The service must not run. Throws a message for people if the data belongs to a newer version or runtime.
 */
export function snapshotBeforeUpgrade(home: string, now: Date): string | null {
  const file = join(home, "version.json");
  const last = readPrivateJson(file, Started);
  const applied = appliedMigrations(home);
  const known = ownMigrations();
  const unknown = applied.filter((name) => !known.includes(name));
  const newer = [
    ...unknown.map((name) => `its database has ${name}`),
    ...(["version", "miniflare"] as const).flatMap((name) => {
      const of: string = last?.[name] ?? OWN[name];
      return isLater(of, OWN[name]) ? [`it was last used with the ${name} ${of}, and this is ${OWN[name]}`] : [];
    }),
  ];
  if (newer.length > 0) {
    throw new Error(
      `The data in ${home} is of a newer version: ${newer.join("; ")}. Start that version again, or restore a backup or ` +
        `one of ${join(home, "snapshots")} (copra restore … --replace).`,
    );
  }
  const isNew = applied.length === 0;
  const isSame =
    last?.version === OWN.version && last.miniflare === OWN.miniflare && known.every((name) => applied.includes(name));
  const folder = isNew || isSame ? null : join(home, "snapshots", `${stamp(now)}-before-${VERSION}`);
  if (folder !== null && !existsSync(folder)) {
    mkdirSync(join(home, "snapshots"), { recursive: true, mode: 0o700 });
    takeSnapshot(home, folder, now);
    removeOld(join(home, "snapshots"));
  }
  writePrivateJson(file, OWN);
  return folder;
}

/** True if `one` is a later version than `other`: `5.20261117.0-beta` is later than `5.20260815.0-alpha`. */
const isLater = (a: string, b: string): boolean => a.localeCompare(b, "en", { numeric: true }) > 0;

function removeOld(folder: string): void {
  const oldest = readdirSync(folder).sort().slice(0, -KEPT);
  for (const name of oldest) rmSync(join(folder, name), { recursive: true });
}
