// The files of a data folder that a backup needs. Databases and small files are copied byte by byte. Media is copied
// with hard links, which takes no time and no space.
import { constants, copyFileSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { errorCode } from "#shared/log.ts";

/** Left out: caches, counters of a minute, and the index that SQLite makes again from its log. */
const LEFT_OUT = /^control-plane\/v3\/(cache|ratelimit)\/|-shm$/;
/**
 * Files that never change in place: objects of the service's own storage, and of the S3 server. Parts of an upload
 * change when a client sends them again.
 */
const NEVER_CHANGED = /^control-plane\/v3\/r2\/.*\/blobs\/|^s3\/.*\._S3rver_object$/;
/** The entries of a data folder that a backup contains. Logs and pids are not among them. */
export const ENTRIES = ["control-plane", "s3", "nodes", "secrets.json"] as const;

/** Paths of the files below the entries of a data folder or a backup, relative to it, with `/`. */
export const dataFiles = (folder: string): string[] =>
  ENTRIES.flatMap((entry) => (entry === "nodes" ? leaseFiles(folder) : filesBelow(folder, entry))).filter(
    (file) => !LEFT_OUT.test(file),
  );

/** The leases of nodes. Nodes hand them back when they start again, so that nobody waits until the leases expire. */
function leaseFiles(folder: string): string[] {
  const nodes = join(folder, "nodes");
  if (!statSync(nodes, { throwIfNoEntry: false })) return [];
  return readdirSync(nodes).flatMap((node) => filesBelow(folder, join("nodes", node, "leases")));
}

function filesBelow(folder: string, entry: string): string[] {
  const path = join(folder, entry);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  if (stats.isFile()) return [entry];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)).replaceAll("\\", "/"));
}

/** The state of each copied file; null if it may have changed during the copy. */
export type Copied = ReadonlyMap<string, string | null>;

/** Writes within some ms may give a file the same time, so a file of this age is copied again. */
const YOUNG_MS = 1000;

/**
 * Makes the data in `to` equal to `from`. `copied`: the result of an earlier call. Files that have not changed since
 * then are not copied again. A file that is deleted during the copy is left out.
 */
export function copyData(from: string, to: string, copied: Copied = new Map()): Copied {
  const files = dataFiles(from);
  const present = new Set(files);
  for (const file of copied.keys()) if (!present.has(file)) rmSync(join(to, file), { force: true });
  const folders = new Set<string>();
  const done = new Map<string, string | null>();
  for (const file of files) {
    const [source, target] = [join(from, file), join(to, file)];
    const state = stateOf(source);
    if (state === null) continue;
    done.set(file, state.isYoung ? null : state.text);
    if (copied.get(file) === state.text) continue;
    if (!folders.has(dirname(target))) mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    folders.add(dirname(target));
    try {
      rmSync(target, { force: true });
      copyOrLink(source, target, NEVER_CHANGED.test(file));
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      done.delete(file);
    }
  }
  return done;
}

function stateOf(path: string): { text: string; isYoung: boolean } | null {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  if (!stats) return null;
  const { ino, size, mtimeNs, mtimeMs } = stats;
  return { text: `${ino} ${size} ${mtimeNs}`, isYoung: Date.now() - Number(mtimeMs) < YOUNG_MS };
}

function copyOrLink(from: string, to: string, link: boolean): void {
  if (link) {
    try {
      return linkSync(from, to);
    } catch (error) {
      // The target is on another file system, or the file system has no hard links.
      if (!["EXDEV", "EPERM", "ENOTSUP"].includes(errorCode(error) ?? "")) throw error;
    }
  }
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
}
