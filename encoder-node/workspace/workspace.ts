// Temporary folders for the work on leases.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

/** Runs work in a new, empty folder below `parent`, and always removes the folder afterwards. */
export async function inWorkspace<Value>(parent: string, work: (folder: string) => Promise<Value>): Promise<Value> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(parent, "w-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
