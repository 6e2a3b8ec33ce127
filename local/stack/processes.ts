// Which processes a stack has running, kept in its home, so that the next stack finds what a killed one left behind.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { readPrivateJson, writePrivateJson } from "./private-file.ts";

const Processes = z.object({ owner: z.int(), children: z.array(z.int()) });

const fileIn = (home: string): string => join(home, "processes.json");

export const recordProcesses = (home: string, children: readonly number[]): void =>
  writePrivateJson(fileIn(home), { owner: process.pid, children });
export const forgetProcesses = (home: string): void => rmSync(fileIn(home), { force: true });

/**
 * The module that each child of a stack loads first. Part of the child's command line, and with it the home: pids are
 * used again, so a recorded one alone does not tell whether the process is still ours.
 */
export function markOf(home: string): string {
  const module = new URL("./leave-with-parent.ts", import.meta.url);
  module.searchParams.set("home", home);
  return module.href;
}

/** The pid of the process that runs a stack on this home; null when there is none. */
export function runningOwner(home: string): number | null {
  const known = readPrivateJson(fileIn(home), Processes);
  if (!known) return null;
  // An orphan has another parent.
  return known.children.some((pid) => lookUp(pid, home)?.parent === known.owner) ? known.owner : null;
}

const GONE_CHECK_MS = 50;

/** Kills what a stack that did not end in order left running on this home, and waits until it is gone. */
export async function clearLeftovers(home: string): Promise<void> {
  const known = readPrivateJson(fileIn(home), Processes);
  for (const pid of known?.children ?? []) {
    while (lookUp(pid, home)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It was faster.
      }
      await sleep(GONE_CHECK_MS);
    }
  }
  forgetProcesses(home);
}

/** The process, if it is a living one of this home. */
function lookUp(pid: number, home: string): { parent: number } | null {
  const found = existsSync("/proc/self/stat") ? fromProc(pid) : fromPs(pid);
  return found?.command.includes(markOf(home)) ? found : null;
}

type Found = { parent: number; command: string };

/** Linux; small images have no `ps`. */
function fromProc(pid: number): Found | null {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    // The second field is the program's name in parentheses, which may hold spaces and parentheses of its own.
    const parent = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, "").trim().split(" ")[1];
    return { parent: Number(parent), command };
  } catch {
    return null;
  }
}

function fromPs(pid: number): Found | null {
  try {
    const line = execFileSync("ps", ["-ww", "-o", "ppid=,command=", "-p", String(pid)], { encoding: "utf8" });
    const [, parent, command] = /^\s*(\d+)\s+(.*)/.exec(line) ?? [];
    return parent && command ? { parent: Number(parent), command } : null;
  } catch {
    return null;
  }
}
