// Files that survive the node's process: one for each lease in a folder, written atomically.
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { LeaseId } from "#shared/ids.ts";

const DRAFT = ".part";
const SUFFIX = ".json";

/** Writes the file of a lease, and returns its path. */
export async function writeLeaseFile(folder: string, lease: LeaseId, value: unknown): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = leaseFile(folder, lease);
  const draft = `${path}${DRAFT}`;
  try {
    await writeSynced(draft, JSON.stringify(value));
    await rename(draft, path);
    return path;
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export const leaseFile = (folder: string, lease: LeaseId): string => join(folder, `${lease}${SUFFIX}`);

/** The files of an earlier process. Removes those that it has written in part. */
export async function leaseFilesIn(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const drafts = names.filter((name) => name.endsWith(DRAFT));
  await Promise.all(drafts.map((name) => rm(join(folder, name), { force: true })));
  return names.filter((name) => name.endsWith(SUFFIX)).map((name) => join(folder, name));
}

/** What is in a file; undefined when it is not JSON, or not there. */
export async function readLeaseFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(text);
    // Without this the name may survive a power failure and the content not.
    await file.sync();
  } finally {
    await file.close();
  }
}
