// Files that the command line and the local system read.
import { readFileSync } from "node:fs";
import type * as z from "zod";
import { errorCode } from "#shared/log.ts";
import { usageError } from "./exit.ts";

/** Reads a file, or standard input for `-`. Throws a usage error that names the file. */
export function readText(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") throw usageError(`There is no file ${path}`);
    throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

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
