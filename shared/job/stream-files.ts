// The paths of the files of a stream: entry playlists have fixed paths, all other files are in a separate folder.
import type { LeaseId } from "../ids.ts";

/**
 * The folder, below that of the package, of all files except the entry playlists. It is new for every attempt and for
 * every further `run` (from 1) within an attempt. So segments of different attempts, or of different jobs at the same
 * path, never mix, and stored segments never change. The entry playlists, which are stored last, refer to it.
 */
export const streamFolder = (lease: LeaseId, run: number): string =>
  `${lease.replaceAll(".", "_")}${run === 1 ? "" : `-${run}`}`;

/** Maximum length of the name of a file below the folder of its package, including the folder of the stream. */
export const MAX_STREAM_FILE_CHARS = 120;

/** True if this attempt may write to a folder. */
export const isStreamFolder = (folder: string, lease: LeaseId): boolean => {
  const own = streamFolder(lease, 1);
  return folder === own || (folder.startsWith(`${own}-`) && /^[1-9]\d{0,2}$/.test(folder.slice(own.length + 1)));
};
