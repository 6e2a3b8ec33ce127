// How the files of a stream are named: its entry playlists at fixed addresses, all else in a folder of its own.
import type { LeaseId } from "../ids.ts";

/**
 * The folder, below that of its package, of everything but the entry playlists. It is new with every grant, and with every
 * further `run` (from 1) within one: no two attempts, and no two jobs at the same path, ever mix their segments, and
 * what was published stays as it is for ever. The entry playlists, stored last, name it.
 */
export const streamFolder = (lease: LeaseId, run: number): string =>
  `${lease.replaceAll(".", "_")}${run === 1 ? "" : `-${run}`}`;

/** Longest name of a file below its package's folder, the stream's own folder included. */
export const MAX_STREAM_FILE_CHARS = 120;

/** Whether a folder is one of those that a grant may write. */
export const isStreamFolder = (folder: string, lease: LeaseId): boolean => {
  const own = streamFolder(lease, 1);
  return folder === own || (folder.startsWith(`${own}-`) && /^[1-9]\d{0,2}$/.test(folder.slice(own.length + 1)));
};
