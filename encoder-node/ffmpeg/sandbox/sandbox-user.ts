// The user ids under which a root node runs ffmpeg. Each owns the folder of a single run and nothing else.
import { chownSync, statSync } from "node:fs";

/** Unused in systemd's table of user ids (systemd.io/UIDS-GIDS), and within the 65,536 ids of a usual container. */
const FIRST_UID = 60_706;
const UIDS = 478;
const isScratch = (uid: number): boolean => uid >= FIRST_UID && uid < FIRST_UID + UIDS;

const OTHERS = 0o077;
let next = process.pid % UIDS;

/** An id that none of the latest runs used. */
export function nextScratchUid(): number {
  next = (next + 1) % UIDS;
  return FIRST_UID + next;
}

/**
 * The user that owns a run's folder. The first run in a folder assigns it, and later runs there are part of the same
 * command. Throws when other users may enter the folder: it is not private to a run then, and must keep its owner.
 * Synchronous: two runs that start in a folder at the same time get the same user.
 */
export function userOfFolder(folder: string): number {
  const { uid, mode } = statSync(folder);
  if (isScratch(uid)) return uid;
  if ((mode & OTHERS) !== 0)
    throw new Error(`${folder} is readable by other users, so it cannot become a run's folder`);
  const scratchUid = nextScratchUid();
  chownSync(folder, scratchUid, scratchUid);
  return scratchUid;
}
