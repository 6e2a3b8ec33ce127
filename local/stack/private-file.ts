// Files that only their owner may read, and that are whole or not there at all.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type * as z from "zod";

/** Writes `value` as JSON with mode 0600. Whoever reads at the same time sees the old file or the new one. */
export function writePrivateJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/** What the file holds; null when there is none. Throws words for people when it holds something else. */
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
    throw new Error(`${path} is damaged. Move it away and start again.`, { cause });
  }
}
