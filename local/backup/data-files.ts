// What a data folder has that a backup needs, and how each file is copied: databases and small files byte by byte,
// media by hard links, which takes no time and no space.
import { constants, copyFileSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** What is left out: caches and counters of a minute, and the index that SQLite makes again from its log. */
const LEFT_OUT = /^control-plane\/v3\/(cache|ratelimit)\/|-shm$/;
/**
 * Files that are never changed in place: objects of the service's own storage, and those of the S3 server. Parts of an
 * upload are, when one is sent again.
 */
const NEVER_CHANGED = /^control-plane\/v3\/r2\/.*\/blobs\/|^s3\/.*\._S3rver_object$/;
/** The entries of a data folder that a backup has. Logs and pids are not among them. */
export const ENTRIES = ["control-plane", "s3", "nodes", "secrets.json"] as const;

/** Paths of the files below the entries of a data folder or a backup, relative to it, with `/`. */
export const dataFiles = (folder: string): string[] =>
  ENTRIES.flatMap((entry) => (entry === "nodes" ? leaseFiles(folder) : filesBelow(folder, entry))).filter(
    (file) => !LEFT_OUT.test(file),
  );

/** What nodes had leased: they hand it back when they start again, so that nobody waits until the leases expire. */
function leaseFiles(folder: string): string[] {
  const nodes = join(folder, "nodes");
  if (!statSync(nodes, { throwIfNoEntry: false })) return [];
  return readdirSync(nodes).flatMap((node) => filesBelow(folder, join("nodes", node, "leases")));
}

function filesBelow(folder: string, entry: string): string[] {
  const path = join(folder, entry);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  if (found.isFile()) return [entry];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)).replaceAll("\\", "/"));
}

/** How each copied file was; null if it may have changed while it was copied. */
export type Copied = ReadonlyMap<string, string | null>;

/** Times of files may be the same for writes within some ms: a file that is as young is copied again. */
const YOUNG_MS = 1000;

/**
 * Makes the data in `to` that of `from`. `copied` has what an earlier call copied: files that have not changed since
 * are left as they are. A file that is deleted meanwhile is left out.
 */
export function copyData(from: string, to: string, copied: Copied = new Map()): Copied {
  const files = dataFiles(from);
  const present = new Set(files);
  for (const file of copied.keys()) if (!present.has(file)) rmSync(join(to, file), { force: true });
  const made = new Set<string>();
  const done = new Map<string, string | null>();
  for (const file of files) {
    const [source, target] = [join(from, file), join(to, file)];
    const state = stateOf(source);
    if (state === null) continue;
    done.set(file, state.isYoung ? null : state.text);
    if (copied.get(file) === state.text) continue;
    if (!made.has(dirname(target))) mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    made.add(dirname(target));
    try {
      rmSync(target, { force: true });
      copyOrLink(source, target, NEVER_CHANGED.test(file));
    } catch (error) {
      if (!hasCode(error, "ENOENT")) throw error;
      done.delete(file);
    }
  }
  return done;
}

function stateOf(path: string): { text: string; isYoung: boolean } | null {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  if (!found) return null;
  const { ino, size, mtimeNs, mtimeMs } = found;
  return { text: `${ino} ${size} ${mtimeNs}`, isYoung: Date.now() - Number(mtimeMs) < YOUNG_MS };
}

function copyOrLink(from: string, to: string, link: boolean): void {
  if (link) {
    try {
      return linkSync(from, to);
    } catch (error) {
      // Another file system, or one without hard links.
      if (!["EXDEV", "EPERM", "ENOTSUP"].some((code) => hasCode(error, code))) throw error;
    }
  }
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
