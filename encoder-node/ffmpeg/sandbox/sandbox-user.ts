// The users that a node of root's runs ffmpeg as: each run's folder belongs to one, and nothing else does.
import { chmod, chown, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Used by nobody, by systemd's table of user ids (systemd.io/UIDS-GIDS); also within the 65,536 ids of a usual container. */
const FIRST_UID = 60_706;
const UIDS = 478;
const isScratch = (uid: number): boolean => uid >= FIRST_UID && uid < FIRST_UID + UIDS;

const OTHERS = 0o077;
const READABLE_BY_ALL = 0o444;
let next = process.pid % UIDS;

/** One that none of the latest runs had. */
export function anyScratchUid(): number {
  next = (next + 1) % UIDS;
  return FIRST_UID + next;
}

/**
 * The user whose folder it is from now on, made its own by the first run in it: runs in one folder are one piece of work.
 * Throws when others may enter the folder: it is somebody's, and would be taken away.
 */
export function ownerOfFolder(folder: string): Promise<number> {
  const claim = claims.get(folder) ?? claimFolder(folder).finally(() => claims.delete(folder));
  claims.set(folder, claim);
  return claim;
}

/** Of folders that are being taken: two runs that start in one at the same time have one user. */
const claims = new Map<string, Promise<number>>();

async function claimFolder(folder: string): Promise<number> {
  const { uid, mode } = await stat(folder);
  if (isScratch(uid)) return uid;
  if ((mode & OTHERS) !== 0) throw new Error(`${folder} is not private, so it is no folder of one run`);
  // What it finds there is its input; before the first run that is little.
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isFile()) await letRead(join(folder, entry.name));
  }
  const own = anyScratchUid();
  await chown(folder, own, own);
  return own;
}

/** Lets a scratch user read a file that this node made: the folders around it keep everybody else out. */
export async function letRead(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & READABLE_BY_ALL) !== READABLE_BY_ALL) await chmod(path, (mode & 0o7777) | READABLE_BY_ALL);
}
