// JSON files that only their owner may read. Writes are atomic.
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type * as z from "zod";
import { usageError } from "../exit.ts";
import { readJson } from "../read-json.ts";
import { replaceFile } from "../replace-file.ts";

/**
 * Reads and parses a file. Returns null if there is no file. Throws an error with the path if the file does not match
 * the schema.
 */
export function readJsonFile<Value>(path: string, schema: z.ZodType<Value>): Value | null {
  return readJson(path, schema, () =>
    usageError(`${path} is damaged. Correct it, or move it away and run the command again`),
  );
}

/** Writes with mode 0600, in a folder with mode 0700. A concurrent reader sees either the old or the new file. */
export function writeJsonFile(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, 0o600);
}

export const removeJsonFile = (path: string): void => rmSync(path, { force: true });
