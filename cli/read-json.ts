// JSON files of the command line and the local system.
import { readFileSync } from "node:fs";
import type * as z from "zod";

/**
 * Reads and parses a file. Returns null if there is no file. Throws the error from `damaged` if the file does not match
 * the schema.
 */
export function readJson<Value>(
  path: string,
  schema: z.ZodType<Value>,
  damaged: (cause: unknown) => Error,
): Value | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return null;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw damaged(cause);
  }
}
