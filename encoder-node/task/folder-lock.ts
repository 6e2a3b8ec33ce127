// One node process to a work folder: two would delete each other's work.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { constants, copyFile, link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { messageOf } from "#shared/log.ts";

/** `startedAt` tells the process from a later one of the same pid. */
const Holder = z.object({ pid: z.int().min(1), startedAt: z.string() });
type Holder = z.infer<typeof Holder>;

/**
 * Takes the folder, which must exist, for this process until it ends. A lock whose process is gone is taken over.
 * Processes are told apart on one machine only: containers that share a folder do not see each other.
 * Throws words for people when another process holds it, or the lock of one that is gone cannot be removed.
 */
export async function lockFolder(folder: string): Promise<void> {
  const lock = join(folder, "node.lock");
  const own = `${lock}.${process.pid}`;
  await writeFile(own, JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) ?? "" } satisfies Holder));
  try {
    while (!(await takes(own, lock))) await clearStale(lock, `${own}.old`, folder);
  } finally {
    await rm(own, { force: true });
  }
  process.once("exit", () => rmSync(lock, { force: true }));
}

/** A link appears whole or not at all, and never in place of another; file systems without links get a copy. */
async function takes(own: string, lock: string): Promise<boolean> {
  try {
    await link(own, lock).catch((error: unknown) => (isTaken(error) ? Promise.reject(error) : copy(own, lock)));
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}

const copy = (own: string, lock: string): Promise<void> => copyFile(own, lock, constants.COPYFILE_EXCL);
const isTaken = (error: unknown): boolean => codeOf(error) === "EEXIST";
const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : null);

/** Removes a lock whose holder is gone. */
async function clearStale(lock: string, aside: string, folder: string): Promise<void> {
  refuseIfHeld(await textOf(lock), folder);
  // Another process may have taken the lock over since it was read: what was moved away is looked at again.
  await rename(lock, aside).catch((error: unknown) => refuseUnlessGone(error, lock));
  const moved = await textOf(aside);
  try {
    refuseIfHeld(moved, folder);
  } catch (held) {
    await link(aside, lock).catch(() => undefined);
    throw held;
  } finally {
    await rm(aside, { force: true });
  }
}

/** A lock that nobody can move, such as another user's in a folder like /tmp, would be waited for without end. */
function refuseUnlessGone(error: unknown, lock: string): void {
  const code = codeOf(error);
  if (code === "ENOENT") return;
  throw new Error(
    `${lock} is left of an encoder node that has ended, and cannot be removed (${code ?? messageOf(error)}). Delete it, or give this one a folder of its own by --work.`,
  );
}

/** Empty when there is none. */
const textOf = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

function refuseIfHeld(text: string, folder: string): void {
  const holder = holderIn(text);
  if (!holder || startOf(holder.pid) !== holder.startedAt) return;
  throw new Error(
    `Another encoder node (process ${holder.pid}) works in ${folder}. Stop it, or give this one a folder of its own by --work.`,
  );
}

/** A file that was cut short by a power cut holds nobody. */
function holderIn(text: string): Holder | null {
  try {
    return Holder.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** When a process was started, in words that no later process of its pid has; null when there is none. */
function startOf(pid: number): string | null {
  try {
    return existsSync("/proc/self/stat") ? startByProc(pid) : startByPs(pid);
  } catch {
    return null;
  }
}

function startByProc(pid: number): string | null {
  // proc(5): the second field is the name in parentheses, which may hold spaces; the third the state, the 22nd the start in
  // ticks since the system's start.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, "").trim().split(" ");
  if (fields[0] === "Z") return null;
  return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[19]}`;
}

/** Two nodes may have been started with languages and time zones of their own. */
const SAME_WORDS = { LC_ALL: "C", TZ: "UTC" };

const startByPs = (pid: number): string =>
  execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
    encoding: "utf8",
    env: { ...process.env, ...SAME_WORDS },
  }).trim();
