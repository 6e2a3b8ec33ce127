// Finds by trial, once per process, how far ffmpeg can be isolated on this machine.
import { execFile } from "node:child_process";
import { rmdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { constants, getPriority, release, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "#shared/log.ts";
import type { NodeIsolation } from "#shared/protocol/capabilities.ts";
import { type HardLimits, parseHardLimits, probeLimits } from "../limits.ts";
import { isKnownMachine, isolated, type Step, step } from "./program.ts";
import { NEW_NETWORK, type Privilege, type Sandbox, sandboxedCommand } from "./sandbox.ts";
import { systemMounts } from "./sandbox-mounts.ts";
import { nextScratchUid } from "./sandbox-user.ts";
import { seccompFilter } from "./seccomp.ts";
import { toolEnvironment } from "./tool-environment.ts";

/** The isolation that works on this system: none without Perl (macOS, Windows, some containers). */
export type Isolation = {
  /** Each run gets its own root, user and namespaces. Null where the system forbids that; `reason` has its message. */
  readonly sandbox: Sandbox | null;
  readonly reason: string | null;
  /** Without a sandbox: the steps that remove all networks; empty where the system forbids that, too. */
  readonly unshareNetwork: readonly Step[];
  /** Without a sandbox: the steps that drop privileges; empty where the system forbids that. */
  readonly dropPrivileges: readonly Step[];
  /** True if the program works that sets limits, and that ends a run when this process ends, even by SIGKILL. */
  readonly hasProgram: boolean;
  /** The limits of this process, which no run can exceed. */
  readonly hardLimits: HardLimits;
};

const UNSHARE_NETWORK = [[], [step("own_user")]].map((steps) => [...steps, step("call", "unshare", NEW_NETWORK)]);
const DROP_PRIVILEGES = [step("drop_bounding"), step("drop_privileges")];

let searched: Promise<Isolation> | null = null;

/**
 * Takes about 50 ms the first time. Runs mount their roots on `rootFolder`, which is created if necessary and is a
 * temporary folder by default. Only the first call's value counts.
 */
export function findIsolation(rootFolder?: string): Promise<Isolation> {
  searched ??= searchIsolation(rootFolder);
  return searched;
}

/**
 * Replaces `findIsolation` in tests whose tools are scripts, until the returned function is called: a sandbox would hide
 * the scripts' files.
 */
export async function withoutSandbox(): Promise<() => void> {
  const before = searched;
  searched = Promise.resolve(await searchIsolation(null));
  return () => {
    searched = before;
  };
}

/** Searches again. `rootFolder`: null to try no sandbox. */
export async function searchIsolation(rootFolder: string | undefined | null): Promise<Isolation> {
  const hardLimits = parseHardLimits(await readFile("/proc/self/limits", "utf8").catch(() => ""));
  const none: Isolation = {
    sandbox: null,
    reason: null,
    hardLimits,
    unshareNetwork: [],
    dropPrivileges: [],
    hasProgram: false,
  };
  if (process.platform !== "linux") return { ...none, reason: `there is no isolation on ${process.platform}` };
  if (!isKnownMachine(process.arch)) return { ...none, reason: `there is no isolation on ${process.arch}` };
  const hasProgram = await works([]);
  const { sandbox, reason } = rootFolder === null ? NOT_TRIED : await findSandbox(rootFolder, hardLimits);
  if (sandbox) return { ...none, sandbox, hasProgram };
  const unshareNetwork = await firstWorking(UNSHARE_NETWORK);
  return { ...none, reason, hasProgram, unshareNetwork, dropPrivileges: await firstWorking([DROP_PRIVILEGES]) };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "copra-root-"));
  process.once("exit", () => {
    try {
      rmdirSync(folder);
    } catch {
      // A temporary folder that stays behind is empty.
    }
  });
  return folder;
}

type Finding = Pick<Isolation, "sandbox" | "reason">;

const NOT_TRIED: Finding = { sandbox: null, reason: "not tried" };

/** Returns the best working sandbox, or the error message of the best sandbox when none works. */
async function findSandbox(folder: string | undefined, hardLimits: HardLimits): Promise<Finding> {
  const isRoot = process.getuid?.() === 0;
  const rootFolder = folder ?? (await temporaryFolder());
  await mkdir(rootFolder, { recursive: true, mode: 0o700 });
  const mounts = await systemMounts(process.env);
  let reason: string | null = null;
  for (const privilege of isRoot ? (["root", "user"] as const) : (["user"] as const satisfies readonly Privilege[])) {
    for (const hasProc of [true, false]) {
      const countsProcesses = privilege === "root" || isSince(release(), 5, 14);
      const sandbox = { privilege, rootFolder, countsProcesses, hasProc, mounts, filter: null };
      const failure = await failureOf(sandbox, hardLimits);
      if (failure === null) return { sandbox: await withFilter(sandbox, hardLimits), reason: null };
      reason ??= failure;
    }
  }
  return { sandbox: null, reason };
}

/** The same sandbox, with the filter of system calls where it can be set. */
async function withFilter(sandbox: Sandbox, hardLimits: HardLimits): Promise<Sandbox> {
  const filtered = { ...sandbox, filter: seccompFilter(process.arch) };
  return (await failureOf(filtered, hardLimits)) === null ? filtered : sandbox;
}

function isSince(release: string, major: number, minor: number): boolean {
  const [ownMajor = 0, ownMinor = 0] = release.split(".").map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

/** Runs a shell that checks its own privileges in the sandbox. Returns the error message as a single line, or null. */
async function failureOf(sandbox: Sandbox, hardLimits: HardLimits): Promise<string | null> {
  const check = "grep -qs '^CapEff:.*[1-9a-f]' /proc/self/status && exit 9; exit 0";
  const run = { command: ["/bin/sh", "-c", check], mounts: [], cwd: "/", enterNetwork: null, hardLimits };
  const user = sandbox.privilege === "root" ? { uid: nextScratchUid(), groups: [] } : null;
  const limits = probeLimits(60_000);
  const argv = sandboxedCommand(sandbox, { ...run, user, limits, oomScore: 0, niceness: 0 });
  const [program = "", ...rest] = argv;
  try {
    await promisify(execFile)(program, rest, { env: toolEnvironment(), timeout: TRIAL_MS, killSignal: "SIGKILL" });
    return null;
  } catch (error) {
    const stderr = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    return stderr.split("\n").at(-1) || messageOf(error).split("\n", 1)[0] || "unknown";
  }
}

const TRIAL_MS = 20_000;

async function firstWorking(choices: readonly (readonly Step[])[]): Promise<readonly Step[]> {
  for (const steps of choices) if (await works(steps)) return steps;
  return [];
}

async function works(steps: readonly Step[]): Promise<boolean> {
  const [program = "", ...argv] = isolated([...steps, step("start")], ["true"]);
  return promisify(execFile)(program, argv).then(
    () => true,
    () => false,
  );
}

/**
 * The isolation level as reported to the control plane. `lacksLoopback`: ranged runs would use the machine's network.
 */
export function isolationLevel(
  { sandbox, unshareNetwork, dropPrivileges, hasProgram }: Isolation,
  lacksLoopback: boolean,
): NodeIsolation {
  const missing: NodeIsolation["missing"] = [];
  if (!sandbox) missing.push("files", "processes");
  if (!sandbox && dropPrivileges.length === 0) missing.push("privileges");
  if (lacksLoopback || (!sandbox && unshareNetwork.length === 0)) missing.push("network");
  if (!hasProgram) missing.push("limits");
  if (missing.length === 0) return { level: "full", missing };
  return { level: hasProgram ? "partial" : "none", missing };
}

/**
 * Added to a run's `oom_score_adj`: among processes of equal size the kernel kills the highest score first (proc(5)).
 */
const OOM_SCORE_MORE = 500;
const OOM_SCORE_MAX = 1000;
const NICENESS = constants.priority.PRIORITY_BELOW_NORMAL;

/** Keeps this process alive and responsive: a run is the first to be killed for memory and the last to get a CPU. */
export async function runPriority(): Promise<{ readonly oomScore: number; readonly niceness: number }> {
  const node = Number(await readFile("/proc/self/oom_score_adj", "utf8").catch(() => 0));
  return { oomScore: Math.min(OOM_SCORE_MAX, node + OOM_SCORE_MORE), niceness: Math.max(0, NICENESS - getPriority()) };
}

/** Lowers the priority of a run that started without a sandbox. A sandboxed run lowers its own. */
export function lowerPriority(pid: number): void {
  try {
    // Never below this process's own value: only root may lower it.
    setPriority(pid, Math.max(getPriority(), NICENESS));
  } catch {
    // The process has ended, or the system forbids the change. The run continues unchanged.
  }
  raiseOomScore(pid).catch(() => undefined);
}

async function raiseOomScore(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, String((await runPriority()).oomScore));
}
