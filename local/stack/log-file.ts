// Log files that do not grow for ever: one that has become too large is begun anew, with one older file beside it.
import { copyFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { messageOf } from "#shared/log.ts";

const MAX_BYTES = 16 * 2 ** 20;
const CHECK_MS = 5000;

/** Where the lines go that were written before a log was last begun anew. */
export const olderLog = (path: string): string => `${path}.old`;

/**
 * Begins a log anew that is larger than `maxBytes`. Processes that have it open for appending go on in the empty file; what
 * they write between the copy and the cut, a few ms, is lost. On a full disk there is no copy, and the older file goes too.
 * Throws what else the system says.
 */
export function capLog(path: string, maxBytes = MAX_BYTES): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || found.size <= maxBytes) return;
  try {
    copyFileSync(path, olderLog(path));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    rmSync(olderLog(path), { force: true });
  }
  truncateSync(path);
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");

/** Caps a log every `everyMs` until the answer is called. What hinders it, `tell` hears once. */
export function keepLogShort(
  path: string,
  tell: (words: string) => void,
  everyMs = CHECK_MS,
  maxBytes = MAX_BYTES,
): () => void {
  let told = false;
  const check = setInterval(() => {
    try {
      capLog(path, maxBytes);
    } catch (error) {
      if (!told) tell(`The log ${path} cannot be kept short, and grows: ${messageOf(error)}`);
      told = true;
    }
  }, everyMs).unref();
  return () => clearInterval(check);
}
