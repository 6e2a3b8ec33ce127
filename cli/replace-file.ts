// Files that others may read while they are written.
import { renameSync, writeFileSync } from "node:fs";

/** Writes atomically: a concurrent reader sees the old file or the new one. The folder must exist. */
export function replaceFile(path: string, content: string | Uint8Array, mode?: number): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, content, { mode });
  renameSync(draft, path);
}
