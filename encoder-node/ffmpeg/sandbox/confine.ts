// Builds the command line that runs ffmpeg or ffprobe with all the isolation that isolation.ts found to work here.
import { makeReadable } from "../../run-files/open-file.ts";
import type { RunLimits } from "../limits.ts";
import type { ProcessEnd } from "../process-group.ts";
import { findIsolation, type Isolation, lowerPriority, runPriority } from "./isolation.ts";
import type { LoopbackNetwork } from "./loopback-network.ts";
import { isolated, limitSteps, step } from "./program.ts";
import { type Mount, type Sandbox, type SandboxedRun, sandboxedCommand, toolEnd } from "./sandbox.ts";
import { existing, gpuGroups, gpuMounts, toolMounts } from "./sandbox-mounts.ts";
import { nextScratchUid, userOfFolder } from "./sandbox-user.ts";
import { toolEnvironment } from "./tool-environment.ts";

/** `none`: no network. Otherwise the loopback network in which this process serves the run's input. */
export type RunNetwork = "none" | LoopbackNetwork;

export type Confinement = {
  /** The path of the tool. */
  readonly tool: string;
  readonly argv: readonly string[];
  /** The working folder and the only folder that the run may write to. Null: none. */
  readonly folder: string | null;
  /** Files outside the folder that the run may read. They are in folders to which no run can write. */
  readonly reads: readonly string[];
  /** Libraries that the tool loads from folders outside the system. */
  readonly libraries?: readonly string[] | undefined;
  readonly network: RunNetwork;
  /** True if the run gets the GPU's devices. False by default. */
  readonly inHardware?: boolean | undefined;
  readonly limits: RunLimits;
};

/** A command line that is ready to start. */
export type ConfinedRun = {
  readonly program: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Call it with the process id once the process has started. */
  started(pid: number | undefined): void;
  /** The end of the tool, derived from the end of the process. */
  endOf(end: ProcessEnd): ProcessEnd;
};

/** Throws the file system's error when the tool or the folder does not exist. */
export async function confine(run: Confinement): Promise<ConfinedRun> {
  const isolation = await findIsolation();
  const { sandbox } = isolation;
  const env = toolEnvironment(run.folder);
  const command = sandbox ? await inSandbox(sandbox, isolation, run) : withoutRoot(isolation, run);
  const [program = run.tool, ...argv] = command;
  return {
    program,
    argv,
    env,
    // A sandbox lowers its own priority before the tool starts.
    started: (pid) => (sandbox || pid === undefined ? undefined : lowerPriority(pid)),
    endOf: sandbox ? toolEnd : (end) => end,
  };
}

/** The command line where there is no sandbox. The program replaces itself with the tool, so the pid is the tool's. */
function withoutRoot(
  { unshareNetwork, dropPrivileges, hasProgram, hardLimits }: Isolation,
  run: Confinement,
): string[] {
  const command = [run.tool, ...run.argv];
  if (!hasProgram) return command;
  const steps = [
    ...(run.network === "none" ? unshareNetwork : []),
    // After the change of user namespace, which clears the parent-death signal.
    step("end_with_parent"),
    ...limitSteps({ ...run.limits, processes: null }, hardLimits),
    ...dropPrivileges,
    step("start"),
  ];
  return isolated(steps, command);
}

async function inSandbox(sandbox: Sandbox, { hardLimits }: Isolation, run: Confinement): Promise<string[]> {
  const { folder, limits, network } = run;
  const hasGpu = run.inHardware ?? false;
  const details: SandboxedRun = {
    ...(await runPriority()),
    command: [run.tool, ...run.argv],
    limits: sandbox.countsProcesses ? limits : { ...limits, processes: null },
    hardLimits,
    mounts: await mountsOf(run, hasGpu),
    cwd: folder ?? "/",
    user: sandbox.privilege === "root" ? await scratchUser(run, hasGpu) : null,
    enterNetwork: network === "none" ? null : network.enter,
  };
  return sandboxedCommand(sandbox, details);
}

async function mountsOf({ tool, libraries = [], folder, reads }: Confinement, hasGpu: boolean): Promise<Mount[]> {
  return [
    ...(await toolMounts(tool)),
    ...(await existing(libraries.map((path) => ({ path, as: "tool" as const })))),
    ...(hasGpu ? await gpuMounts() : []),
    ...(await existing(reads.map((path) => ({ path, as: "read" as const })))),
    // The last mount, because a readable path may contain the folder.
    ...(folder === null ? [] : await existing([{ path: folder, as: "write" as const }])),
  ];
}

async function scratchUser({ folder, reads }: Confinement, hasGpu: boolean): Promise<SandboxedRun["user"]> {
  const uid = folder === null ? nextScratchUid() : userOfFolder(folder);
  // The tool itself reports a file that does not exist.
  await Promise.all(reads.map((path) => makeReadable(path).catch(() => undefined)));
  return { uid, groups: hasGpu ? await gpuGroups() : [] };
}
