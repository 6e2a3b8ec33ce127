// Files that survive the node's process: the files of each lease in a folder, written atomically.
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { LeaseId } from "#shared/ids.ts";

const DRAFT = ".part";
const SUFFIX = ".json";

/** Writes a file of a lease, and returns its path. `number` distinguishes several files of a lease. */
export async function writeLeaseFile(
  folder: string,
  lease: LeaseId,
  value: unknown,
  number: number | null = null,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = number === null ? leaseFile(folder, lease) : join(folder, `${lease}.${number}${SUFFIX}`);
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

/** True if a file belongs to the lease. */
export const isLeaseFile = (path: string, lease: LeaseId): boolean => basename(path).startsWith(`${lease}.`);

/** Returns the files of an earlier process. Removes its incomplete files. */
export async function leaseFilesIn(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const drafts = names.filter((name) => name.endsWith(DRAFT));
  await Promise.all(drafts.map((name) => rm(join(folder, name), { force: true })));
  return names.filter((name) => name.endsWith(SUFFIX)).map((name) => join(folder, name));
}

/** Returns the content of a file; undefined when the file is not JSON or does not exist. */
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
    // Without this, the name may survive a power failure but not the content.
    await file.sync();
  } finally {
    await file.close();
  }
}
