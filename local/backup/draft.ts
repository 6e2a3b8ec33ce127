// The folder in which a backup is prepared. It is in the data folder, because hard links need the same file system.
import { mkdtempSync, rmSync } from "node:fs";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { sweepLeftovers } from "../home/leftovers.ts";

const PREFIX = ".backup-";
/** Interval of touching a folder in use. */
const TOUCH_MS = 60_000;

/** Deletes the folders of killed backups: they hold copies of the secrets, and links that keep deleted media. */
export const sweepDrafts = (home: string, now: Date): void => sweepLeftovers(home, PREFIX, now);

/** Calls `use` with a new folder, and deletes it afterwards. Also deletes the folders of killed backups. */
export async function withDraft(home: string, use: (draft: string) => Promise<void>): Promise<void> {
  sweepDrafts(home, new Date());
  const draft = mkdtempSync(join(home, PREFIX));
  const touch = (): void => void utimes(draft, new Date(), new Date()).catch(() => undefined);
  const timer = setInterval(touch, TOUCH_MS);
  try {
    await use(draft);
  } finally {
    clearInterval(timer);
    rmSync(draft, { recursive: true, force: true });
  }
}
