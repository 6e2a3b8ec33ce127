// Whether a node may start: what isolates its ffmpeg is tried, and what the system forbids is named.
import { readFile } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import type { Logger } from "#shared/log.ts";
import type { NodeIsolation } from "#shared/protocol/protocol.ts";
import type { Tool } from "./build/locate.ts";
import { lastWords } from "./explain-failure.ts";
import { type CommandResult, runCommand } from "./run-command.ts";
import type { RunNetwork } from "./sandbox/confine.ts";
import { findIsolation, type Isolation, isolationLevel } from "./sandbox/isolation.ts";
import { openLoopback } from "./sandbox/loopback-network.ts";
import { TOOL_FOLDERS_VARIABLE } from "./sandbox/sandbox-mounts.ts";

/** `required`: all or no start; `best-effort`: what works here, and a warning about the rest. */
export const ISOLATION_CHOICES = ["required", "best-effort"] as const;
export type IsolationChoice = (typeof ISOLATION_CHOICES)[number];

export type IsolationStart = {
  readonly choice: IsolationChoice;
  /** Where runs mount their roots; made if need be. */
  readonly rootFolder: string;
  readonly tools: readonly Tool[];
  readonly log: Logger;
};

/**
 * Takes some 200 ms, and logs what it found. Throws AppError `node_failed` when isolation is required and incomplete, and
 * `encoder_not_available` when a tool does not run in the sandbox.
 */
export async function startIsolated({ choice, rootFolder, tools, log }: IsolationStart): Promise<NodeIsolation> {
  const isolation = await findIsolation(rootFolder);
  const found = isolationLevel(isolation, await lacksLoopback(isolation));
  const missing = found.missing.join(", ");
  const why = found.level === "full" ? null : await explain(isolation, found);
  if (why !== null && choice === "required") {
    const instead = "start the node with --isolation best-effort to run ffmpeg without it";
    throw new AppError(
      "node_failed",
      `ffmpeg cannot be isolated on this machine: ${why}. Or ${instead} (docs/nodes.md).`,
    );
  }
  const user = { root: "one of its own", user: "that of the node" }[isolation.sandbox?.way ?? "user"];
  if (why === null) log.info("ffmpeg sandbox", { isolation: found.level, user });
  else log.warn("ffmpeg sandbox incomplete", { isolation: found.level, missing, reason: why });
  if (isolation.sandbox) for (const tool of tools) await requireStart(tool);
  return found;
}

const TRIAL_MS = 20_000;

const tryRun = (path: string, argv: readonly string[], network: RunNetwork): Promise<CommandResult> =>
  runCommand({ path, argv, cwd: "/", writesNothing: true, stallMs: TRIAL_MS, network });

/** Whether runs that read what this process serves would have the machine's network. */
async function lacksLoopback({ sandbox }: Isolation): Promise<boolean> {
  if (!sandbox) return true;
  const { network, close } = await openLoopback();
  try {
    return network.enter === null || !(await tryRun("/bin/sh", ["-c", "exit 0"], network)).ok;
  } finally {
    close();
  }
}

async function requireStart({ path }: Tool): Promise<void> {
  const result = await tryRun(path, ["-version"], "none");
  if (result.ok) return;
  const words = lastWords(result.stderrTail) ?? `exit code ${result.exitCode ?? "unknown"}`;
  throw new AppError(
    "encoder_not_available",
    `${path} does not start in the sandbox (${words}). Name the folders that it needs in ${TOOL_FOLDERS_VARIABLE}.`,
  );
}

type Setting = { readonly file: string; readonly forbids: string; readonly name: string };
/** Settings of the kernel that keep ordinary users from making namespaces. */
const SETTINGS: readonly Setting[] = [
  { file: "user/max_user_namespaces", forbids: "0", name: "user.max_user_namespaces" },
  { file: "kernel/unprivileged_userns_clone", forbids: "0", name: "kernel.unprivileged_userns_clone" },
  {
    file: "kernel/apparmor_restrict_unprivileged_userns",
    forbids: "1",
    name: "kernel.apparmor_restrict_unprivileged_userns",
  },
];

/** What is missing, why, and what helps, without a final stop. */
async function explain({ sandbox, reason }: Isolation, { missing }: NodeIsolation): Promise<string> {
  if (process.platform !== "linux") return `${reason}`;
  if (missing.includes("limits")) return "prlimit is missing. Install util-linux";
  if (sandbox) return "nothing brings up loopback in a network namespace. Install iproute2 (ip)";
  if (reason?.includes("ENOENT")) return `a program is missing (${reason}). Install util-linux`;
  const isRoot = process.getuid?.() === 0;
  const set = isRoot ? null : await firstForbidding();
  if (set) return `the system forbids user namespaces (${set}). Allow them with sysctl`;
  const advice = isRoot ? "Give its container CAP_SYS_ADMIN" : "Let its container or service make user namespaces";
  return `the system forbids namespaces or mounts (${reason}). ${advice}`;
}

async function firstForbidding(): Promise<string | null> {
  for (const { file, forbids, name } of SETTINGS) {
    const value = await readFile(`/proc/sys/${file}`, "utf8").catch(() => "");
    if (value.trim() === forbids) return `${name} is ${forbids}`;
  }
  return null;
}
