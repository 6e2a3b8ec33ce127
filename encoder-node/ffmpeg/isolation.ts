// What stands between a media file and this machine while ffmpeg reads it: programs of util-linux, put before the command.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { constants, getPriority, setPriority } from "node:os";
import { promisify } from "node:util";
import { type HardLimits, limitArguments, parseHardLimits, type RunLimits } from "./limits.ts";

/** `own`: the run has a network of its own, with nothing in it. `loopback`: it reads what this process serves. */
export type Network = "own" | "loopback";

/** What works on this system; none of it where util-linux is missing (macOS, Windows, a busybox). */
export type Isolation = {
  /** What cuts a run off from all networks: empty where the system forbids it. */
  readonly network: readonly string[];
  /** Has the kernel kill what it starts as soon as this process is gone, even by SIGKILL. */
  readonly tie: readonly string[];
  readonly limits: readonly string[];
  /** Those of this process, which no run can pass. */
  readonly hard: HardLimits;
};

/** In this order: a new user namespace makes the kernel forget who a process is tied to (prctl(2), PR_SET_PDEATHSIG). */
const NETWORKS = [
  ["unshare", "-n", "--"],
  ["unshare", "-rn", "--"],
] as const;
const TIE = ["setpriv", "--pdeathsig", "KILL", "--"] as const;
const PRLIMIT = ["prlimit", "--core=0", "--"] as const;

let found: Promise<Isolation> | null = null;

/** Found out once, by trying; some 20 ms. */
export function findIsolation(): Promise<Isolation> {
  found ??= tryAll();
  return found;
}

async function tryAll(): Promise<Isolation> {
  const [asRoot, asUser, tie, limits] = await Promise.all([...NETWORKS.map(works), works(TIE), works(PRLIMIT)]);
  const network = asRoot ? NETWORKS[0] : asUser ? NETWORKS[1] : [];
  const hard = parseHardLimits(await readFile("/proc/self/limits", "utf8").catch(() => ""));
  return { network, tie: tie ? TIE : [], limits: limits ? ["prlimit"] : [], hard };
}

async function works([program = "", ...argv]: readonly string[]): Promise<boolean> {
  return promisify(execFile)(program, [...argv, "true"]).then(
    () => true,
    () => false,
  );
}

/** For the log: what a run is kept from, in words. */
export function describeIsolation({ network, tie, limits }: Isolation): Record<string, string> {
  const kernel = "memory, processor, file size";
  return {
    network: network.length > 0 ? "none" : "not cut off: unshare does not work here",
    limits: limits.length > 0 ? kernel : `by the clock only, not ${kernel}: there is no prlimit`,
    endsWithNode: tie.length > 0 ? "always" : "unless the node is killed: there is no setpriv with --pdeathsig",
  };
}

/** Begins a line of stderr when one of these programs could not do its part, or could not start the command. */
export const NOT_STARTED = /^(?:unshare|setpriv|prlimit): /m;

/** What to put before a command. Each program becomes the next, so the process that is started is the command's. */
export async function isolationPrefix(limits: RunLimits, network: Network): Promise<string[]> {
  const isolation = await findIsolation();
  const [prlimit] = isolation.limits;
  return [
    ...(network === "own" ? isolation.network : []),
    ...isolation.tie,
    ...(prlimit === undefined ? [] : [prlimit, ...limitArguments(limits, isolation.hard), "--"]),
  ];
}

/** What the kernel kills when memory runs out, before anything of its own weight that has less of this (proc(5)). */
const OOM_SCORE_MORE = 500;
const OOM_SCORE_MAX = 1000;
const NICENESS = constants.priority.PRIORITY_BELOW_NORMAL;

/** Lets a run stand behind this process for processors, or beside it, and before it when memory runs out. */
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
  const own = Number(await readFile("/proc/self/oom_score_adj", "utf8"));
  await writeFile(`/proc/${pid}/oom_score_adj`, String(Math.min(OOM_SCORE_MAX, own + OOM_SCORE_MORE)));
}
