// JSON files that only their owner may read, written atomically.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type * as z from "zod";
import { usageError } from "../exit.ts";

/** The parsed file; null when there is none. A file that does not match the schema is an error that names it. */
export function readJsonFile<Value>(path: string, schema: z.ZodType<Value>): Value | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return null;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw usageError(`${path} is damaged. Correct it, or move it away and run the command again`);
  }
}

/** Writes with mode 0600, in a folder with mode 0700. A concurrent reader sees the old file or the new one. */
export function writeJsonFile(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

export const removeJsonFile = (path: string): void => rmSync(path, { force: true });
