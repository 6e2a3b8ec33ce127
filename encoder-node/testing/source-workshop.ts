// Makes sources for tests, with ffmpeg or by editing bytes.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeCached } from "./clip-cache.ts";
import { REFERENCE_FFMPEG } from "./plan-runs.ts";

export interface SourceWorkshop {
  readonly folder: string;
  /**
   * Runs ffmpeg in the folder and returns the file's path. `options` is a single text; `\\ ` is a space in an argument.
   */
  make(name: string, options: string): Promise<string>;
  /** Writes a changed copy of a file in the folder and returns its path. */
  edit(from: string, name: string, change: (bytes: Buffer) => Buffer): Promise<string>;
}

export function openWorkshop(folder: string): SourceWorkshop {
  return {
    folder,
    async make(name, options) {
      const argv = options.split(/(?<!\\) /).map((argument) => argument.replaceAll("\\ ", " "));
      await makeCached(REFERENCE_FFMPEG, argv, name, folder);
      return join(folder, name);
    },
    async edit(from, name, change) {
      await writeFile(join(folder, name), change(await readFile(join(folder, from))));
      return join(folder, name);
    },
  };
}

/** Replaces every occurrence of a text. Throws when there is none, so that a fixture never stays unchanged silently. */
export function replaceText(bytes: Buffer, from: RegExp, to: string): Buffer {
  const text = bytes.toString("latin1");
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`Nothing matches ${from}`);
  return Buffer.from(changed, "latin1");
}

/** Keeps the first part of a file, like an interrupted transfer. */
export const truncated =
  (share: number) =>
  (bytes: Buffer): Buffer =>
    bytes.subarray(0, Math.floor(bytes.length * share));
