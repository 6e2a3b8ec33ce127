// Locks a work folder for a single node process: two processes would delete each other's files.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { constants, copyFile, link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { errorCode, messageOf } from "#shared/log.ts";

/** `startedAt` distinguishes the process from a later process with the same pid. */
const Holder = z.object({ pid: z.int().min(1), startedAt: z.string() });
type Holder = z.infer<typeof Holder>;

/**
 * Locks the folder, which must exist, for this process until it ends. A lock whose process has ended is taken over.
 * Processes are recognized on the same machine only: containers that share a folder do not see each other. Throws a
 * message for people when another process holds the lock, or when a stale lock cannot be removed.
 */
export async function lockFolder(folder: string): Promise<void> {
  const lock = join(folder, "node.lock");
  const mine = `${lock}.${process.pid}`;
  await writeFile(mine, JSON.stringify({ pid: process.pid, startedAt: startTime(process.pid) ?? "" } satisfies Holder));
  try {
    while (!(await tryLock(mine, lock))) await clearStale(lock, `${mine}.old`, folder);
  } finally {
    await rm(mine, { force: true });
  }
  process.once("exit", () => rmSync(lock, { force: true }));
}

/**
 * Creates the lock by a hard link, which is atomic and never replaces a file. File systems without links get a copy.
 */
async function tryLock(mine: string, lock: string): Promise<boolean> {
  try {
    await link(mine, lock).catch((error: unknown) => (isExisting(error) ? Promise.reject(error) : copy(mine, lock)));
    return true;
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  }
}

const OTHER_FOLDER = "choose another folder with --work.";

const copy = (mine: string, lock: string): Promise<void> => copyFile(mine, lock, constants.COPYFILE_EXCL);
const isExisting = (error: unknown): boolean => errorCode(error) === "EEXIST";

/** Removes a lock whose holder has ended. */
async function clearStale(lock: string, aside: string, folder: string): Promise<void> {
  throwIfHeld(await readText(lock), folder);
  // Another process may have taken over the lock since it was read: check the moved file again.
  await rename(lock, aside).catch((error: unknown) => throwUnlessMissing(error, lock));
  const moved = await readText(aside);
  try {
    throwIfHeld(moved, folder);
  } catch (held) {
    await link(aside, lock).catch(() => undefined);
    throw held;
  } finally {
    await rm(aside, { force: true });
  }
}

/**
 * Without this, a lock that cannot be moved would be retried forever, such as another user's lock in a folder like
 * /tmp.
 */
function throwUnlessMissing(error: unknown, lock: string): void {
  const code = errorCode(error);
  if (code === "ENOENT") return;
  const cause = code ?? messageOf(error);
  const problem = `${lock} is the lock of an encoder node that has ended, and cannot be removed (${cause}).`;
  throw new Error(`${problem} Delete the file, or ${OTHER_FOLDER}`);
}

/** Empty when the file does not exist. */
const readText = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

function throwIfHeld(text: string, folder: string): void {
  const holder = parseHolder(text);
  if (!holder || startTime(holder.pid) !== holder.startedAt) return;
  const problem = `Another encoder node (process ${holder.pid}) uses the work folder ${folder}.`;
  throw new Error(`${problem} Stop it, or ${OTHER_FOLDER}`);
}

/** Null for a file that a power failure truncated. */
function parseHolder(text: string): Holder | null {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Start time of a process, as text that differs for each process with this pid; null when the process does not run. */
function startTime(pid: number): string | null {
  try {
    return existsSync("/proc/self/stat") ? startByProc(pid) : startByPs(pid);
  } catch {
    return null;
  }
}

function startByProc(pid: number): string | null {
  // proc(5): the second field is the name in parentheses, which may contain spaces; the third is the state; the 22nd is
  // the start time in ticks since boot.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, "").trim().split(" ");
  if (fields[0] === "Z") return null;
  return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[19]}`;
}

/** All nodes read the same text, with any locale and time zone. */
const FIXED_LOCALE = { LC_ALL: "C", TZ: "UTC" };

const startByPs = (pid: number): string =>
  execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
    encoding: "utf8",
    env: { ...process.env, ...FIXED_LOCALE },
  }).trim();
