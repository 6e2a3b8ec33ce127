// The files of a command: ffmpeg writes them in a folder that exists only for its run, and the node takes them over.
import { randomUUID } from "node:crypto";
import { lstat, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { bytesOf, isMissing, openFile, openIfThere } from "./open-file.ts";
import { openUp, removeTree } from "./remove-tree.ts";

/** What a file may do that was taken over: be read, also by the users of other runs. */
const MODE = 0o644;

/**
 * A folder of this node with the files of a command. No run can write to it. While a run works, its files are in a
 * folder of its own, from which they move here once: as soon as someone takes them, or when the run has ended. A file
 * may move while ffmpeg writes it. Whatever is no regular file with one name is removed.
 */
export class RunFiles {
  readonly folder: string;
  readonly #runs = new Set<string>();
  /** One file moves at a time, so that nobody misses one that moves. */
  #lastMove: Promise<void> = Promise.resolve();

  /** `folder` exists. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** In a new folder below `parent`. */
  static async create(parent: string): Promise<RunFiles> {
    return new RunFiles(await mkdtemp(join(parent, "files-")));
  }

  /** Where a file is after it was taken over. */
  pathOf(name: string): string {
    return join(this.folder, basename(name));
  }

  /**
   * Runs work in a new folder, in which its runs write, and takes over what they left there, unless they failed. No
   * process of theirs may be left.
   */
  async inRun<Value>(
    work: (cwd: string) => Promise<Value>,
    succeeded: (value: Value) => boolean = () => true,
  ): Promise<Value> {
    const cwd = await mkdtemp(join(this.folder, "run-"));
    this.#runs.add(cwd);
    try {
      const value = await work(cwd);
      if (succeeded(value)) await this.#takeAll(cwd);
      return value;
    } finally {
      this.#runs.delete(cwd);
      await removeTree(cwd);
    }
  }

  /** Takes over a file, also one that ffmpeg still writes, and returns its path; null while there is none. */
  async take(name: string): Promise<string | null> {
    if (await this.#has(name)) return this.pathOf(name);
    for (const cwd of this.#runs) await this.#move(cwd, name);
    return (await this.#has(name)) ? this.pathOf(name) : null;
  }

  /** The text of a file that ffmpeg replaces again and again; null while there is none. Throws as `readText`. */
  async read(name: string, maxBytes: number): Promise<string | null> {
    for (const folder of [...this.#runs, this.folder]) {
      const file = await openIfThere(join(folder, basename(name)));
      if (file) return (await bytesOf(file, maxBytes)).toString();
    }
    return null;
  }

  /** Removes all files. No run may be under way. */
  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #has(name: string): Promise<boolean> {
    return (await lstat(this.pathOf(name)).catch(() => null)) !== null;
  }

  async #takeAll(cwd: string): Promise<void> {
    await openUp(cwd);
    for (const name of await readdir(cwd)) await this.#move(cwd, name);
  }

  #move(cwd: string, name: string): Promise<void> {
    const moved = this.#lastMove.then(() => this.#moveNow(cwd, name));
    this.#lastMove = moved.catch(() => undefined);
    return moved;
  }

  /** Nothing is replaced: the folder may have files that the node wrote. */
  async #moveNow(cwd: string, name: string): Promise<void> {
    if (await this.#has(name)) return;
    // The run cannot change what has this name, only what is in the file.
    const taken = join(this.folder, `taken-${randomUUID()}`);
    try {
      await rename(join(cwd, basename(name)), taken);
    } catch (error) {
      // There is none yet, or it has just been taken.
      if (isMissing(error)) return;
      throw error;
    }
    if (await isUsable(taken)) await rename(taken, this.pathOf(name));
    else await removeTree(taken);
  }
}

/** True if it is a regular file with one name. It gets the mode of the files that were taken over. */
async function isUsable(path: string): Promise<boolean> {
  try {
    const file = await openFile(path);
    try {
      await file.chmod(MODE);
      return true;
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}
