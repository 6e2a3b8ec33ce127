// Sources in folders of the operator: runs of ffmpeg read them in place, through a link in the node's own folder.
import { type BigIntStats, constants, createWriteStream } from "node:fs";
import { type FileHandle, mkdir, mkdtemp, open, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError, type ErrorCode } from "#shared/errors.ts";
import type { RangedSource } from "#shared/protocol/scratch.ts";
import { type NodeFolders, placeOf } from "./node-folders.ts";
import { inParent } from "./open-below.ts";

// Opens sources that this process reads itself. Others may change a folder after its source was found: they may leave a
// pipe there, whose opening waits for ever, or another file.

/**
 * Opens a source by its path on this node. Follows no link except the node's own (`linkSource`). Throws the error of
 * the file system, and AppError `input_unreachable` if it is not the file that was found there.
 */
export async function openSource(path: string): Promise<FileHandle> {
  const linked = linkedFile(path);
  const follow = linked === undefined ? constants.O_NOFOLLOW : 0;
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | follow);
  const stats = await file.stat({ bigint: true });
  if (stats.isFile() && (linked === undefined || linked === inodeOf(stats))) return file;
  await file.close();
  throw new AppError("input_unreachable", "The input was replaced while the job read it; try again.");
}

/** Returns the bytes at the start of a source, `length` at most. Throws as `openSource`. */
export async function readStart(path: string, length: number): Promise<Buffer> {
  const file = await openSource(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

// The links to files in folders of the operator, and the files that they mean. A sandbox mounts such a file only if it
// is still the same file.

const linked = new Map<string, string>();

/** Device and inode of a file, as `stat -c %d:%i` prints them. */
export const inodeOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/** Device and inode of the file; undefined for a path that is no link. */
export const linkedFile = (path: string): string | undefined => linked.get(path);

// Links to sources.

export type LinkDeps = { readonly folders: NodeFolders; readonly workFolder: string; readonly signal: AbortSignal };

/** A source of a task. `origin`: its place and version for other nodes with the folder. */
export type LinkedSource = { readonly path: string; readonly origin: RangedSource; release(): void };

const READABLE_BY_OTHERS = 0o004n;
/** Follows no link, and waits for no pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens the source at a `folder://` URL. The caller releases it. Throws AppError `input_http_404`, `input_http_403`,
 * `input_not_media`, `input_unreachable`, and `node_failed` if this node lacks the folder.
 */
export async function linkSource(url: string, { folders, workFolder, signal }: LinkDeps): Promise<LinkedSource> {
  const place = placeOf(url, folders);
  if (!place) throw new AppError("node_failed", "The node does not have the folder of the input");
  await mkdir(workFolder, { recursive: true, mode: 0o700 });
  const linkFolder = await mkdtemp(join(workFolder, "folder-"));
  // No extension: ffmpeg prefers the format of a name's extension.
  const path = join(linkFolder, "input");
  const release = (): void => {
    linked.delete(path);
    void rm(linkFolder, { recursive: true, force: true }).catch(() => undefined);
  };
  try {
    const origin = await inParent(place.at, place.path, "required", async (parent, name) => {
      const file = await open(join(parent.path, name), FLAGS);
      try {
        const stats = await file.stat({ bigint: true });
        if (!stats.isFile()) throw new AppError("input_not_media", `${nameOf(place)} is not a file.`);
        // Runs of a node that is root have users without rights.
        const isHidden = process.getuid?.() === 0 && (stats.mode & READABLE_BY_OTHERS) === 0n;
        if (isHidden) await pipeline(file.createReadStream({ autoClose: false }), createWriteStream(path), { signal });
        else {
          await symlink(join(place.at.root, place.path), path);
          linked.set(path, inodeOf(stats));
        }
        // Seconds: protocols of network shares differ in precision.
        const validator = `modified ${stats.mtimeNs / 1_000_000_000n}`;
        return { from: "origin" as const, sizeBytes: Number(stats.size), validator };
      } finally {
        await file.close();
      }
    });
    return { path, origin, release };
  } catch (error) {
    release();
    signal.throwIfAborted();
    throw error instanceof AppError ? error : inputFailure(place, error);
  }
}

type Place = { readonly folder: string; readonly path: string };
const nameOf = ({ folder, path }: Place): string => `\`${path}\` in the folder \`${folder}\` of the input`;

function inputFailure(place: Place, cause: unknown): AppError {
  const [code, problem] = explain(cause instanceof Error && "code" in cause ? String(cause.code) : "no reason given");
  return new AppError(code, `${nameOf(place)} ${problem}.`, { cause });
}

function explain(code: string): [ErrorCode, string] {
  if (code === "ENOENT") return ["input_http_404", "does not exist; check the path"];
  if (code === "ELOOP" || code === "ENOTDIR") {
    return ["input_http_403", "is behind a symbolic link or a file; nodes follow no links in folders"];
  }
  // A socket, or a device without a driver.
  if (code === "ENXIO") return ["input_not_media", "is not a file"];
  if (code === "EACCES" || code === "EPERM")
    return ["input_http_403", "is not readable by the node; check its permissions"];
  if (code === "ENODEV") return ["input_unreachable", "cannot be read, because the folder is not mounted on the node"];
  if (code === "ENAMETOOLONG") return ["input_http_404", "has a name that is too long"];
  return ["input_unreachable", `cannot be read (${code}); try again later`];
}
