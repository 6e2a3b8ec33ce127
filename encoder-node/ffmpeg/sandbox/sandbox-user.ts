// The user ids that a node of root runs ffmpeg as. Each owns the folder of one run and nothing else.
import { chmod, chown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Unused in systemd's table of user ids (systemd.io/UIDS-GIDS), and within the 65,536 ids of a usual container. */
const FIRST_UID = 60_706;
const UIDS = 478;
const isScratch = (uid: number): boolean => uid >= FIRST_UID && uid < FIRST_UID + UIDS;

const OTHERS = 0o077;
const READABLE_BY_ALL = 0o444;
let next = process.pid % UIDS;

/** An id that none of the latest runs used. */
export function nextScratchUid(): number {
  next = (next + 1) % UIDS;
  return FIRST_UID + next;
}

/**
 * The user that owns a run's folder. The first run in a folder assigns it, and later runs there are part of the same
 * task. Throws when other users may enter the folder: then it is not private to one run, and must not change its owner.
 */
export function userOfFolder(folder: string): Promise<number> {
  const claim = claims.get(folder) ?? claimFolder(folder).finally(() => claims.delete(folder));
  claims.set(folder, claim);
  return claim;
}

/** Ownership changes in progress: two runs that start in a folder at the same time get the same user. */
const claims = new Map<string, Promise<number>>();

async function claimFolder(folder: string): Promise<number> {
  const { uid, mode } = await stat(folder);
  if (isScratch(uid)) return uid;
  if ((mode & OTHERS) !== 0)
    throw new Error(`${folder} is readable by other users, so it cannot become a run's folder`);
  // The files that are there before the first run are its input, and few.
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isFile()) await makeReadable(join(folder, entry.name));
  }
  const own = nextScratchUid();
  await chown(folder, own, own);
  return own;
}

/** Makes a file of this node readable for scratch users. The folders around it keep all other users out. */
export async function makeReadable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & READABLE_BY_ALL) !== READABLE_BY_ALL) await chmod(path, (mode & 0o7777) | READABLE_BY_ALL);
}
