// A record of a stack's processes in its home folder, so that the next stack finds processes that a killed stack left
// running.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { programFile } from "../home/constants.ts";
import { readPrivateJson, writePrivateJson } from "../home/private-file.ts";
import { runningProcesses } from "./running-processes.ts";

const Processes = z.object({ owner: z.int(), children: z.array(z.int()) });

const fileIn = (home: string): string => join(home, "processes.json");

export const writeProcessRecord = (home: string, children: readonly number[]): void =>
  writePrivateJson(fileIn(home), { owner: process.pid, children });
export const removeProcessRecord = (home: string): void => rmSync(fileIn(home), { force: true });

/**
 * URL of the module that each child of a stack loads first. It puts the home folder on the child's command line. Pids
 * are reused, so a recorded pid alone does not prove that the process belongs to the stack.
 */
export function exitModuleFor(home: string): string {
  const module = pathToFileURL(programFile("local/processes/exit-with-parent.ts"));
  module.searchParams.set("home", home);
  return module.href;
}

/** Pid of the process that runs a stack in this home folder; null if there is none. */
export function runningStackPid(home: string): number | null {
  const known = readPrivateJson(fileIn(home), Processes);
  if (!known) return null;
  // An orphan has another parent.
  return known.children.some((pid) => lookUp(pid, home)?.parent === known.owner) ? known.owner : null;
}

const EXIT_CHECK_MS = 50;

/**
 * Kills the processes that a crashed stack left running in this home folder, and waits for their end. Returns true if a
 * stack has crashed. Programs that its processes had started may run for two more seconds (run-workerd.sh).
 */
export async function killLeftovers(home: string): Promise<boolean> {
  const known = readPrivateJson(fileIn(home), Processes);
  for (const pid of known?.children ?? []) {
    while (lookUp(pid, home)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // The process has already exited.
      }
      await sleep(EXIT_CHECK_MS);
    }
  }
  removeProcessRecord(home);
  return known !== null;
}

/** The process, if it runs and belongs to this home folder. */
function lookUp(pid: number, home: string): { parent: number } | undefined {
  const running = runningProcesses().get(pid);
  return running?.command.includes(exitModuleFor(home)) ? running : undefined;
}
