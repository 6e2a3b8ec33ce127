// JSON files that only their owner may read, written atomically.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type * as z from "zod";
import { readJson } from "../../cli/read-json.ts";
import { replaceFile } from "../../cli/replace-file.ts";

/** Writes `value` as JSON with mode 0600. A concurrent reader sees the old file or the new one. */
export function writePrivateJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, 0o600);
}

/** The parsed file; null if there is none. Throws a message for people if it does not match the schema. */
export function readPrivateJson<Value>(path: string, schema: z.ZodType<Value>): Value | null {
  const advice = "Move it away and run the command again; a new file is created.";
  return readJson(path, schema, (cause) => new Error(`${path} is damaged. ${advice}`, { cause }));
}
