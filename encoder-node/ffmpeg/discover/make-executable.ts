// Makes a packaged binary executable: some npm tarballs lack the mode bit, and their install scripts may not have run.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, chmod, constants, copyFile, mkdir, rename, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns a path at which this user can run the binary: its own path after a chmod, or the path of a copy. The copy is
 * made where node_modules belongs to another user or is read-only, in `$XDG_CACHE_HOME/copra` (default
 * `~/.cache/copra`). Throws the file system's error when neither works.
 */
export async function makeRunnable(path: string, env: Env): Promise<string> {
  if (await isRunnableByAll(path)) return path;
  try {
    await chmod(path, 0o755);
    return path;
  } catch {
    if (await isRunnable(path)) return path;
    return copyToCache(path, join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "copra", "bin"));
  }
}

/** The copy's folder is named after the content's hash, so that another version never runs in its place. */
async function copyToCache(path: string, cache: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  const folder = join(cache, hash.digest("hex"));
  const copy = join(folder, basename(path));
  if (await isRunnable(copy)) return copy;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const unfinished = `${copy}.${process.pid}`;
  await copyFile(path, unfinished);
  await chmod(unfinished, 0o755);
  // Two nodes may start at the same time. With a rename, neither sees an incomplete file.
  await rename(unfinished, copy);
  return copy;
}

/** Sandboxed runs have their own user, and npm unpacks some programs for their owner only. */
async function isRunnableByAll(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  return (mode & 0o555) === 0o555;
}

async function isRunnable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
