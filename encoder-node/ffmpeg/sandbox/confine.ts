// Puts a run of ffmpeg or ffprobe behind all that isolation.ts found to work here.

import { limitArguments, type RunLimits, usesHardware } from "../limits.ts";
import { findIsolation, type Isolation, subordinate, subordination } from "./isolation.ts";
import type { LoopbackNetwork } from "./loopback-network.ts";
import { type End, endOfTool, type Mount, type Sandbox, type SandboxedRun, sandboxedCommand } from "./sandbox.ts";
import { existing, gpuGroups, gpuMounts, toolMounts } from "./sandbox-mounts.ts";
import { anyScratchUid, letRead, ownerOfFolder } from "./sandbox-user.ts";
import { toolEnvironment } from "./tool-environment.ts";

/** `none`: no network at all; else the one in which this process serves the run's input. */
export type RunNetwork = "none" | LoopbackNetwork;

export type Confinement = {
  /** The program's path, and its arguments. */
  readonly tool: string;
  readonly argv: readonly string[];
  /** The one folder that it may write to, where it starts; null: none. */
  readonly folder: string | null;
  /** Files beside those in its folder that it may read. */
  readonly reads: readonly string[];
  readonly network: RunNetwork;
  readonly limits: RunLimits;
};

/** What to start. */
export type ConfinedRun = {
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** To be called with the process's id once it has started. */
  started(pid: number | undefined): void;
  /** How the tool ended, by how the process did. */
  endOf(end: End): End;
};

/** Throws what the file system says when tool or folder are not there. */
export async function confine(run: Confinement): Promise<ConfinedRun> {
  const isolation = await findIsolation();
  const { sandbox } = isolation;
  const env = toolEnvironment(run.folder);
  const command = sandbox
    ? await inSandbox(sandbox, isolation, run)
    : [...prefix(isolation, run), run.tool, ...run.argv];
  const [program = run.tool, ...argv] = command;
  return {
    ...{ program, argv, env },
    // In a sandbox it has done so itself, before there was a tool.
    started: (pid) => (sandbox || pid === undefined ? undefined : subordinate(pid)),
    endOf: sandbox ? endOfTool : (end) => end,
  };
}

/** Each program becomes the next, so the process that is started is the tool's. */
function prefix({ network, tie, limits: [prlimit], hard }: Isolation, run: Confinement): string[] {
  const limits = prlimit === undefined ? [] : [prlimit, ...limitArguments(run.limits, hard), "--"];
  return [...(run.network === "none" ? network : []), ...tie, ...limits];
}

async function inSandbox(sandbox: Sandbox, { hard }: Isolation, run: Confinement): Promise<string[]> {
  const { folder, limits, network } = run;
  const hasGpu = usesHardware(run.argv);
  const details: SandboxedRun = {
    ...{ command: [run.tool, ...run.argv], limits, hard, ...(await subordination()) },
    mounts: await mountsOf(run, hasGpu),
    cwd: folder ?? "/",
    user: sandbox.way === "root" ? await scratchUser(run, hasGpu) : null,
    enterNetwork: network === "none" ? null : network.enter,
  };
  return sandboxedCommand(sandbox, details);
}

async function mountsOf({ tool, folder, reads }: Confinement, hasGpu: boolean): Promise<Mount[]> {
  return [
    ...(await toolMounts(tool)),
    ...(hasGpu ? await gpuMounts() : []),
    ...(await existing(reads.map((path) => ({ path, as: "read" as const })))),
    // The last, as what it may read may lie around it.
    ...(folder === null ? [] : await existing([{ path: folder, as: "write" as const }])),
  ];
}

async function scratchUser({ folder, reads }: Confinement, hasGpu: boolean): Promise<SandboxedRun["user"]> {
  const uid = folder === null ? anyScratchUid() : await ownerOfFolder(folder);
  // What is not there, the tool will say.
  await Promise.all(reads.map((path) => letRead(path).catch(() => undefined)));
  return { uid, groups: hasGpu ? await gpuGroups() : [] };
}
