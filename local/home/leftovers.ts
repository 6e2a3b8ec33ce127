// Temporary folders that a killed process could not delete.
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** A process that runs longer touches its folder. */
const OLD_MS = 3_600_000;

/** Deletes entries of `folder` whose name starts with `prefix`, and that have not changed for an hour. */
export function sweepLeftovers(folder: string, prefix: string, now: Date): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(prefix))) {
    const path = join(folder, name);
    // Another process may delete the entry, too.
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (now.getTime() - changedAt > OLD_MS) rmSync(path, { recursive: true, force: true });
  }
}
