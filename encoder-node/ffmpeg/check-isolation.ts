// Checks at a node's start whether ffmpeg can be isolated, and names the system's restrictions if it cannot.
import { readFile, stat } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import type { Logger } from "#shared/log.ts";
import type { NodeIsolation } from "#shared/protocol/capabilities.ts";
import { shellQuote } from "#shared/shell-quote.ts";
import type { Tool } from "./discover/locate.ts";
import { lastErrorLine } from "./error-lines.ts";
import { runCommand } from "./run-command.ts";
import type { CommandResult } from "./run-tool.ts";
import type { RunNetwork } from "./sandbox/confine.ts";
import { findIsolation, type Isolation, isolationLevel } from "./sandbox/isolation.ts";
import { openLoopback } from "./sandbox/loopback-network.ts";
import { TOOL_FOLDERS_VARIABLE } from "./sandbox/sandbox-mounts.ts";

/**
 * `required`: the node starts only with full isolation. `best-effort`: it logs a warning that names the missing parts.
 */
export const ISOLATION_CHOICES = ["required", "best-effort"] as const;
export type IsolationChoice = (typeof ISOLATION_CHOICES)[number];

export type IsolationCheck = {
  readonly choice: IsolationChoice;
  /** The folder on which runs mount their roots. Created if necessary. */
  readonly rootFolder: string;
  readonly tools: readonly Tool[];
  readonly log: Logger;
};

/**
 * Takes about 200 ms and logs the result. Throws AppError `node_failed` when isolation is required and incomplete, and
 * `encoder_not_available` when a tool does not run in the sandbox.
 */
export async function checkIsolation({ choice, rootFolder, tools, log }: IsolationCheck): Promise<NodeIsolation> {
  const isolation = await findIsolation(rootFolder);
  const report = isolationLevel(isolation, await lacksLoopback(isolation));
  const missing = report.missing.join(", ");
  const reason = report.level === "full" ? null : await explain(isolation, report);
  if (reason !== null && choice === "required") {
    const instead = "Or start the node with --isolation best-effort, which runs ffmpeg without full isolation";
    throw new AppError(
      "node_failed",
      `ffmpeg cannot be isolated on this machine: ${reason}. ${instead} (docs/nodes.md).`,
    );
  }
  const user = isolation.sandbox?.privilege === "root" ? "scratch" : "node";
  if (reason === null) {
    log.info("ffmpeg sandbox checked", { isolation: report.level, user, seccomp: isolation.sandbox?.filter !== null });
  } else log.warn("ffmpeg sandbox incomplete", { isolation: report.level, missing, reason });
  if (isolation.sandbox) for (const tool of tools) await requireStart(tool);
  return report;
}

const TRIAL_MS = 20_000;

const tryRun = (path: string, argv: readonly string[], network: RunNetwork): Promise<CommandResult> =>
  runCommand({ path, argv, cwd: "/", writesNothing: true, stallMs: TRIAL_MS, network });

/** True if runs whose input this process serves would have access to the machine's network. */
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
  const reason = lastErrorLine(result.stderrTail) ?? `exit code ${result.exitCode ?? "unknown"}`;
  const isForOthers = ((await stat(path)).mode & FOR_OTHERS) === FOR_OTHERS;
  const advice = isForOthers
    ? `List the folders that it needs in ${TOOL_FOLDERS_VARIABLE}`
    : `The sandbox runs it as another user: chmod o+rx ${shellQuote(path)}`;
  throw new AppError("encoder_not_available", `${path} does not start in the sandbox (${reason}). ${advice}.`);
}

/** The mode of a program that other users may read and execute. */
const FOR_OTHERS = 0o005;

type Setting = { readonly file: string; readonly forbids: string; readonly name: string };
/** Kernel settings that forbid ordinary users to create namespaces. */
const SETTINGS: readonly Setting[] = [
  { file: "user/max_user_namespaces", forbids: "0", name: "user.max_user_namespaces" },
  { file: "kernel/unprivileged_userns_clone", forbids: "0", name: "kernel.unprivileged_userns_clone" },
  {
    file: "kernel/apparmor_restrict_unprivileged_userns",
    forbids: "1",
    name: "kernel.apparmor_restrict_unprivileged_userns",
  },
];

/** Explains which isolation is missing and how to enable it, without a final period. */
async function explain({ sandbox, reason }: Isolation, { missing }: NodeIsolation): Promise<string> {
  if (process.platform !== "linux") return `${reason}`;
  if (missing.includes("limits")) return `Perl is missing, with which Copra isolates ffmpeg. Install perl`;
  if (sandbox) return "the system forbids a network namespace that this process can reach";
  const isRoot = process.getuid?.() === 0;
  const setting = isRoot ? null : await forbiddingSetting();
  if (setting) return `the system forbids user namespaces (${setting}). Allow them with sysctl`;
  const advice = isRoot
    ? "Give the container CAP_SYS_ADMIN"
    : "Allow user namespaces for the node's container or service";
  return `the system forbids namespaces or mounts (${reason}). ${advice}`;
}

async function forbiddingSetting(): Promise<string | null> {
  for (const { file, forbids, name } of SETTINGS) {
    const value = await readFile(`/proc/sys/${file}`, "utf8").catch(() => "");
    if (value.trim() === forbids) return `${name} is ${forbids}`;
  }
  return null;
}
