// Where tests make sources: ffmpeg for what it can make, edited bytes for what it cannot.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";
import { MAKER } from "./plan-runs.ts";

const run = promisify(execFile);

export interface SourceWorkshop {
  readonly folder: string;
  /** Runs ffmpeg in the folder and answers the path of the file. `options` is one text; `\\ ` is a space within an argument. */
  make(name: string, options: string): Promise<string>;
  /** Writes a changed copy of a file of the folder, and answers its path. */
  edit(from: string, name: string, change: (bytes: Buffer) => Buffer): Promise<string>;
}

export function openWorkshop(folder: string): SourceWorkshop {
  return {
    folder,
    async make(name, options) {
      const argv = options.split(/(?<!\\) /).map((argument) => argument.replaceAll("\\ ", " "));
      await run(MAKER, ["-v", "error", "-nostdin", "-y", ...argv, name], { env: toolEnvironment(), cwd: folder });
      return join(folder, name);
    },
    async edit(from, name, change) {
      await writeFile(join(folder, name), change(await readFile(join(folder, from))));
      return join(folder, name);
    },
  };
}

/** Replaces every occurrence of a text. Throws when there is none, so that a fixture never silently stays as it was. */
export function replaceText(bytes: Buffer, from: RegExp, to: string): Buffer {
  const text = bytes.toString("latin1");
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`Nothing matches ${from}`);
  return Buffer.from(changed, "latin1");
}

/** The first part of a file, as an interrupted transfer leaves it. */
export const truncated =
  (share: number) =>
  (bytes: Buffer): Buffer =>
    bytes.subarray(0, Math.floor(bytes.length * share));
