// What stands between a media file and this machine while ffmpeg reads it: found out once, by trying.
import { execFile } from "node:child_process";
import { rmdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { constants, getPriority, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "#shared/log.ts";
import type { NodeIsolation } from "#shared/protocol/protocol.ts";
import { type HardLimits, parseHardLimits, probeLimits } from "../limits.ts";
import { type Sandbox, sandboxedCommand, type Way } from "./sandbox.ts";
import { systemMounts } from "./sandbox-mounts.ts";
import { anyScratchUid } from "./sandbox-user.ts";
import { toolEnvironment } from "./tool-environment.ts";

/** What works on this system; none of it where util-linux is missing (macOS, Windows, a busybox). */
export type Isolation = {
  /** A root, user and namespaces of each run's own; null where the system forbids them, and then `reason` says how. */
  readonly sandbox: Sandbox | null;
  readonly reason: string | null;
  /** Without a sandbox: what cuts a run off from all networks; empty where the system forbids that, too. */
  readonly network: readonly string[];
  /** Likewise: ends a run with this process, even by SIGKILL, and takes its privileges where that works. */
  readonly tie: readonly string[];
  readonly limits: readonly string[];
  /** Those of this process, which no run can pass. */
  readonly hard: HardLimits;
};

/** In this order: a new user namespace makes the kernel forget who a process is tied to (prctl(2), PR_SET_PDEATHSIG). */
const NETWORKS = [
  ["unshare", "-n", "--"],
  ["unshare", "-rn", "--"],
];
const TIE = ["setpriv", "--pdeathsig", "KILL"];
const TIES = [
  [...TIE, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"],
  [...TIE, "--no-new-privs", "--"],
  [...TIE, "--"],
];
const PRLIMIT = ["prlimit", "--core=0", "--"];

let found: Promise<Isolation> | null = null;

/**
 * Some 50 ms the first time. `rootFolder`, which is made, is where runs mount their roots; only the first call's counts, and
 * without one it is a temporary folder.
 */
export function findIsolation(rootFolder?: string): Promise<Isolation> {
  found ??= tryAll(rootFolder);
  return found;
}

/** For tests in place of `findIsolation`: tools that are scripts, which a sandbox would keep from their files. */
export async function withoutSandbox(): Promise<void> {
  const isolation = await tryAll(null);
  found = Promise.resolve(isolation);
}

/** `rootFolder`: null where no sandbox is to be tried. */
async function tryAll(rootFolder: string | undefined | null): Promise<Isolation> {
  const hard = parseHardLimits(await readFile("/proc/self/limits", "utf8").catch(() => ""));
  const none: Isolation = { sandbox: null, reason: null, network: [], tie: [], limits: [], hard };
  if (process.platform !== "linux") return { ...none, reason: `there is no isolation on ${process.platform}` };
  const limits = (await works(PRLIMIT)) ? ["prlimit"] : [];
  const finding = rootFolder === null ? NOT_TRIED : findSandbox(rootFolder, hard);
  const { sandbox, reason } = await finding;
  if (sandbox) return { ...none, sandbox, limits };
  return { ...none, reason, limits, network: await firstWorking(NETWORKS), tie: await firstWorking(TIES) };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "copra-root-"));
  process.once("exit", () => {
    try {
      rmdirSync(folder);
    } catch {
      // A temporary folder that is left behind is empty.
    }
  });
  return folder;
}

type Finding = Pick<Isolation, "sandbox" | "reason">;

const NOT_TRIED: Finding = { sandbox: null, reason: "not tried" };

/** What works, and else the words of the attempt that should have. */
async function findSandbox(given: string | undefined, hard: HardLimits): Promise<Finding> {
  const isRoot = process.getuid?.() === 0;
  const rootFolder = given ?? (await temporaryFolder());
  await mkdir(rootFolder, { recursive: true, mode: 0o700 });
  const mounts = await systemMounts(process.env);
  let reason: string | null = null;
  for (const way of isRoot ? (["root", "user"] as const) : (["user"] as const satisfies readonly Way[])) {
    for (const hasProc of [true, false]) {
      const sandbox = { way, rootFolder, hasProc, mounts };
      const failure = await failureOf(sandbox, hard);
      if (failure === null) return { sandbox, reason: null };
      reason ??= failure;
    }
  }
  return { sandbox: null, reason };
}

/** Runs a shell that looks around in the sandbox; answers what did not work, in a line. */
async function failureOf(sandbox: Sandbox, hard: HardLimits): Promise<string | null> {
  const check = "grep -qs '^CapEff:.*[1-9a-f]' /proc/self/status && exit 9; exit 0";
  const run = { command: ["/bin/sh", "-c", check], mounts: [], cwd: "/", enterNetwork: null, hard };
  const user = sandbox.way === "root" ? { uid: anyScratchUid(), groups: [] } : null;
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

async function firstWorking(prefixes: readonly (readonly string[])[]): Promise<readonly string[]> {
  for (const prefix of prefixes) if (await works(prefix)) return prefix;
  return [];
}

async function works([program = "", ...argv]: readonly string[]): Promise<boolean> {
  return promisify(execFile)(program, [...argv, "true"]).then(
    () => true,
    () => false,
  );
}

/** What a run is kept from, for the control plane. `lacksLoopback`: ranged runs would use the machine's network. */
export function isolationLevel({ sandbox, network, tie, limits }: Isolation, lacksLoopback: boolean): NodeIsolation {
  const missing: NodeIsolation["missing"] = [];
  if (!sandbox) missing.push("files", "processes");
  if (!sandbox && !tie.includes("--bounding-set=-all")) missing.push("privileges");
  if (lacksLoopback || (!sandbox && network.length === 0)) missing.push("network");
  if (limits.length === 0) missing.push("limits");
  if (missing.length === 0) return { level: "full", missing };
  return { level: sandbox || network.length + tie.length + limits.length > 0 ? "partial" : "none", missing };
}

/** What the kernel kills when memory runs out, before anything of its own weight that has less of this (proc(5)). */
const OOM_SCORE_MORE = 500;
const OOM_SCORE_MAX = 1000;
const NICENESS = constants.priority.PRIORITY_BELOW_NORMAL;

/** What a run gets so that this process outlives it: memory is taken from it first, and processors go to it last. */
export async function subordination(): Promise<{ readonly oomScore: number; readonly niceness: number }> {
  const own = Number(await readFile("/proc/self/oom_score_adj", "utf8").catch(() => 0));
  return { oomScore: Math.min(OOM_SCORE_MAX, own + OOM_SCORE_MORE), niceness: Math.max(0, NICENESS - getPriority()) };
}

/** The same for a run that has started without a sandbox, which does it by itself. */
export function subordinate(pid: number): void {
  try {
    // No less than this process has: only root may lower it.
    setPriority(pid, Math.max(getPriority(), NICENESS));
  } catch {
    // It has gone already, or the system forbids it; then it goes on as it is.
  }
  dieFirst(pid).catch(() => undefined);
}

async function dieFirst(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, String((await subordination()).oomScore));
}
