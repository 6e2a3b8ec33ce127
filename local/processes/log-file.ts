// Limits the size of log files: copies a large file to an older file, and empties it.
import { copyFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { errorCode, messageOf } from "#shared/log.ts";

const MAX_BYTES = 16 * 2 ** 20;
const CHECK_MS = 5000;

/** Path of the copy of a log, which is made before the log is emptied. */
export const olderLog = (path: string): string => `${path}.old`;

/**
 * Copies and empties a log that is larger than `maxBytes`. Processes that have it open for appending continue in the
 * empty file. Their writes between the copy and the truncation, a few ms, are lost. On a full disk there is no copy,
 * and the older file is deleted, too. Throws other errors of the system.
 */
export function capLog(path: string, maxBytes = MAX_BYTES): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || stats.size <= maxBytes) return;
  try {
    copyFileSync(path, olderLog(path));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    rmSync(olderLog(path), { force: true });
  }
  truncateSync(path);
}

const isDiskFull = (error: unknown): boolean => ["ENOSPC", "EDQUOT"].includes(errorCode(error) ?? "");

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
