// Makes a data folder from a backup: an archive of `copra backup`, or a snapshot that `copra serve` took.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { runningStackPid } from "../processes/process-record.ts";
import { unpack } from "./archive.ts";
import { copyData, dataFiles, ENTRIES } from "./data-files.ts";
import { damagedDatabases } from "./databases.ts";
import { type Manifest, readManifest } from "./snapshot.ts";

export type Restored = {
  readonly manifest: Manifest;
  /** The new place of the earlier data; null if there was none. */
  readonly replaced: string | null;
};

export type RestoreOptions = {
  /** The archive or the folder. */
  readonly backup: string;
  readonly home: string;
  /** True if existing data may be moved aside. */
  readonly replace: boolean;
  readonly now: Date;
};

/** Restores a backup. When it throws a message for people, it has changed nothing. */
export async function restoreData({ backup, home, replace, now }: RestoreOptions): Promise<Restored> {
  const pid = runningStackPid(home);
  if (pid !== null) throw new Error(`A Copra runs in ${home} (process ${pid}). Stop it first.`);
  const present = ENTRIES.filter((entry) => existsSync(join(home, entry)));
  if (present.length > 0 && !replace) {
    throw new Error(`${home} has data already (${present.join(", ")}). --replace moves it aside.`);
  }
  mkdirSync(dirname(home), { recursive: true });
  const draft = mkdtempSync(join(dirname(home), `.${basename(home)}-restore-`));
  try {
    const manifest = await readBackup(backup, draft);
    const damaged = damagedDatabases(draft, dataFiles(draft));
    if (damaged.length > 0) throw new Error(`The backup is damaged. ${damaged.slice(0, 3).join("; ")}`);
    const replaced = present.length === 0 ? null : join(home, `replaced-${stamp(now)}`);
    mkdirSync(replaced ?? home, { recursive: true, mode: 0o700 });
    for (const entry of present) renameSync(join(home, entry), join(replaced ?? home, entry));
    for (const entry of ENTRIES) if (existsSync(join(draft, entry))) renameSync(join(draft, entry), join(home, entry));
    return { manifest, replaced };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function readBackup(backup: string, draft: string): Promise<Manifest> {
  const stats = statSync(backup, { throwIfNoEntry: false });
  if (!stats) throw new Error(`There is no backup ${backup}`);
  if (stats.isDirectory()) {
    const manifest = readManifest(backup);
    copyData(backup, draft);
    return manifest;
  }
  await unpack(backup, draft);
  return readManifest(draft);
}

/** A time as part of a file's name. */
export const stamp = (time: Date): string => time.toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
