// Files that others may read while they are written.
import { rename, writeFile } from "node:fs/promises";

/** A concurrent reader sees the old file or the new one. The folder must exist. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, content);
  await rename(draft, path);
}
