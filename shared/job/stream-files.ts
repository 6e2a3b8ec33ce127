// Paths of a stream's files. Entry playlists have fixed paths; all other files are in a separate folder.
import type { LeaseId } from "../ids.ts";

/**
 * Returns the folder, below the package's folder, of all files except entry playlists. Every attempt and every further
 * `run` (from 1) in an attempt gets a new folder. So segments of different attempts, or of different jobs at the same
 * path, never mix, and stored segments never change. The entry playlists refer to the folder and are stored last.
 */
export const streamFolder = (lease: LeaseId, run: number): string =>
  `${lease.replaceAll(".", "_")}${run === 1 ? "" : `-${run}`}`;

/** Maximum length of the name of a file below the folder of its package, including the folder of the stream. */
export const MAX_STREAM_FILE_CHARS = 120;

/** True if this attempt may write to a folder. */
export const isStreamFolder = (folder: string, lease: LeaseId): boolean => {
  const leaseFolder = streamFolder(lease, 1);
  return (
    folder === leaseFolder ||
    (folder.startsWith(`${leaseFolder}-`) && /^[1-9]\d{0,2}$/.test(folder.slice(leaseFolder.length + 1)))
  );
};
