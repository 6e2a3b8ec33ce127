// Limits the size of log files: a file that is too large is copied to an older one and emptied.
import { copyFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { messageOf } from "#shared/log.ts";

const MAX_BYTES = 16 * 2 ** 20;
const CHECK_MS = 5000;

/** Path of the copy that is made of a log before it is emptied. */
export const olderLog = (path: string): string => `${path}.old`;

/**
 * Copies and empties a log that is larger than `maxBytes`. Processes that have it open for appending go on in the empty
 * file; what they write between the copy and the truncation, a few ms, is lost. On a full disk there is no copy, and
 * the older file is deleted too. Throws the system's other errors.
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

/** Caps a log every `everyMs` until the returned function is called. `notify` gets the first error. */
export function keepLogShort(
  path: string,
  notify: (message: string) => void,
  everyMs = CHECK_MS,
  maxBytes = MAX_BYTES,
): () => void {
  let notified = false;
  const check = setInterval(() => {
    try {
      capLog(path, maxBytes);
    } catch (error) {
      if (!notified) notify(`The log ${path} cannot be truncated and grows: ${messageOf(error)}`);
      notified = true;
    }
  }, everyMs).unref();
  return () => clearInterval(check);
}
