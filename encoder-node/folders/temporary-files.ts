// Temporary files in folders of the operator. A killed node leaves them: it removes its own at its next start, and each
// node removes old files where it stores a file.

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "#shared/log.ts";
import type { NodeFolder } from "./node-folders.ts";
import { inParent, type Parent } from "./open-below.ts";

const NAME = /^\.copra-[0-9a-f-]{36}\.tmp$/;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Files get the rights that the umask leaves. */
const MODE = 0o666;
/** A node that still writes a file changes its time. A node whose file was removed fails to rename it. */
const OLD_MS = 60 * 60_000;

/** Runs work on a new file, which the work renames or leaves to be removed. A note survives a kill of the node. */
export async function withTemporary(
  { notes }: NodeFolder,
  { path: parent, below }: Parent,
  work: (file: FileHandle, path: string) => Promise<void>,
): Promise<void> {
  const name = `.copra-${randomUUID()}.tmp`;
  const [path, note] = [join(parent, name), join(notes, name)];
  await mkdir(notes, { recursive: true, mode: 0o700 });
  await writeFile(note, [...below, name].join("/"));
  try {
    const file = await open(path, NEW_FILE, MODE);
    try {
      await removeOld(parent, (await file.stat()).mtimeMs);
      await work(file, path);
    } finally {
      await file.close().catch(() => undefined);
      await rm(path, { force: true }).catch(() => undefined);
    }
  } finally {
    await rm(note, { force: true });
  }
}

/** `now`: by the clock of the file system, which may be on another machine. */
async function removeOld(parent: string, now: number): Promise<void> {
  const names = await readdir(parent).catch((): string[] => []);
  for (const name of names.filter((each) => NAME.test(each))) {
    const stats = await lstat(join(parent, name)).catch(() => null);
    if (stats?.isFile() && stats.mtimeMs < now - OLD_MS) await rm(join(parent, name)).catch(() => undefined);
  }
}

/** Removes the files that this node left when it was killed. Notes of files that cannot be removed now are kept. */
export async function removeLeft(folder: NodeFolder): Promise<void> {
  const names = await readdir(folder.notes).catch((): string[] => []);
  for (const name of names.filter((each) => NAME.test(each))) {
    const note = join(folder.notes, name);
    try {
      const path = await readFile(note, "utf8");
      await inParent(folder, path, "required", ({ path: parent }) => rm(join(parent, name), { force: true }));
      await rm(note);
    } catch (error) {
      if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") await rm(note, { force: true });
    }
  }
}
