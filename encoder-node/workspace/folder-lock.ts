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
 * message for people when another process holds the lock, or when a stale lock cannot be replaced.
 */
export async function lockFolder(folder: string): Promise<void> {
  const lock = join(folder, "node.lock");
  const holder = { pid: process.pid, startedAt: startTime(process.pid) ?? "" } satisfies Holder;
  await take(lock, JSON.stringify(holder), folder);
  process.once("exit", () => rmSync(lock, { force: true }));
}

/**
 * Creates a lock, or replaces a stale lock. Only the process with the lock `….turn` replaces it, and the file never
 * disappears meanwhile: otherwise a process that has read the stale lock could remove the lock of the next holder. A
 * process may die during its turn, so that its `….turn` is stale, too.
 */
async function take(lock: string, holder: string, folder: string): Promise<void> {
  const draft = `${lock}.${process.pid}`;
  await writeFile(draft, holder);
  try {
    if (await tryLock(draft, lock)) return;
    throwIfHeld(await readText(lock), folder);
    const turn = `${lock}.turn`;
    await take(turn, holder, folder);
    try {
      await replaceStale(draft, lock, folder);
    } finally {
      await rm(turn, { force: true });
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Others may create the lock at any time while there is none. */
async function replaceStale(draft: string, lock: string, folder: string): Promise<void> {
  while (!(await tryLock(draft, lock))) {
    const text = await readText(lock);
    if (text === null) continue;
    throwIfHeld(text, folder);
    await rename(draft, lock).catch((error: unknown) => Promise.reject(notReplaced(error, lock)));
    return;
  }
}

/**
 * Creates the lock by a hard link, which is atomic and never replaces a file. File systems without links get a copy.
 */
async function tryLock(draft: string, lock: string): Promise<boolean> {
  try {
    await link(draft, lock).catch((error: unknown) => (isExisting(error) ? Promise.reject(error) : copy(draft, lock)));
    return true;
  } catch (error) {
    if (isExisting(error)) return false;
    throw error;
  }
}

const OTHER_FOLDER = "choose another folder with --work.";

const copy = (draft: string, lock: string): Promise<void> => copyFile(draft, lock, constants.COPYFILE_EXCL);
const isExisting = (error: unknown): boolean => errorCode(error) === "EEXIST";

/** A lock that cannot be replaced, such as another user's lock in a folder like /tmp. */
function notReplaced(error: unknown, lock: string): Error {
  const cause = errorCode(error) ?? messageOf(error);
  const problem = `${lock} is the lock of an encoder node that has ended, and cannot be removed (${cause}).`;
  return new Error(`${problem} Delete the file, or ${OTHER_FOLDER}`);
}

/** Null when the file does not exist, empty when it cannot be read. */
const readText = (file: string): Promise<string | null> =>
  readFile(file, "utf8").catch((error: unknown) => (errorCode(error) === "ENOENT" ? null : ""));

function throwIfHeld(text: string | null, folder: string): void {
  const holder = text === null ? null : parseHolder(text);
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
