// Files that other processes may read during a write.
import { renameSync, writeFileSync } from "node:fs";

/** Writes atomically: a concurrent reader sees either the old or the new file. The folder must exist. */
export function replaceFile(path: string, content: string | Uint8Array, mode?: number): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, content, { mode });
  renameSync(draft, path);
}
