// JSON files that only their owner may read, written atomically.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type * as z from "zod";

/** Writes `value` as JSON with mode 0600. A concurrent reader sees the old file or the new one. */
export function writePrivateJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/** The parsed file; null when there is none. Throws a message for people when it does not match the schema. */
export function readPrivateJson<Value>(path: string, schema: z.ZodType<Value>): Value | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return null;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`${path} is damaged. Move it away and run the command again; a new one is created.`, { cause });
  }
}
