// The files of a command: ffmpeg writes them in a folder that exists only for its run, and the node takes them over.

import { randomUUID } from "node:crypto";
import { lstat, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { errorCode } from "#shared/log.ts";
import { bytesOf, openFile, openIfThere } from "./open-file.ts";
import { openUp, removeTree } from "./remove-tree.ts";

/** Mode of a taken file: other users, such as the users of other runs, may read it. */
const MODE = 0o644;

/**
 * A folder of this node with the files of a command. No run can write to it. While a run works, its files are in a
 * separate folder. Each file moves here once: when it is taken, or when the run has ended. A file may move while ffmpeg
 * writes it. Anything but a regular file with a single name is removed.
 */
export class RunFiles {
  readonly folder: string;
  readonly #runs = new Set<string>();
  /** Files move one after the other, so that no caller misses a file that moves. */
  #lastMove: Promise<void> = Promise.resolve();

  /** `folder` must exist. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** Creates a new folder below `parent`. */
  static async create(parent: string): Promise<RunFiles> {
    return new RunFiles(await mkdtemp(join(parent, "files-")));
  }

  /** Path of a file after it was taken over. */
  pathOf(name: string): string {
    return join(this.folder, basename(name));
  }

  /**
   * Runs work in a new folder, in which its runs write. Takes over the files that the runs left there, unless they
   * failed. No process of the runs may remain.
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

  /** Takes over a file, even while ffmpeg writes it, and returns its path; null while the file does not exist. */
  async take(name: string): Promise<string | null> {
    if (await this.#has(name)) return this.pathOf(name);
    for (const cwd of this.#runs) await this.#move(cwd, name);
    return (await this.#has(name)) ? this.pathOf(name) : null;
  }

  /** The text of a file that ffmpeg replaces repeatedly; null while the file does not exist. Throws as `readText`. */
  async read(name: string, maxBytes: number): Promise<string | null> {
    for (const folder of [...this.#runs, this.folder]) {
      const file = await openIfThere(join(folder, basename(name)));
      if (file) return (await bytesOf(file, maxBytes)).toString();
    }
    return null;
  }

  /** Removes all files. No run may be active. */
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

  /** Replaces no file: the folder may have files that the node wrote. */
  async #moveNow(cwd: string, name: string): Promise<void> {
    if (await this.#has(name)) return;
    // The run can no longer change the entry of this name, only the content of the file.
    const taken = join(this.folder, `taken-${randomUUID()}`);
    try {
      await rename(join(cwd, basename(name)), taken);
    } catch (error) {
      // The file does not exist yet, or has just been taken.
      if (errorCode(error) === "ENOENT") return;
      throw error;
    }
    if (await isUsable(taken)) await rename(taken, this.pathOf(name));
    else await removeTree(taken);
  }
}

/** True for a regular file with a single name. Sets the mode of a taken file. */
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
