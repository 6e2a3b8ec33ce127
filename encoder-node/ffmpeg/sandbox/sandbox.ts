// Builds the command line that runs a tool in its own root. Pure.
import { constants } from "node:os";
import { dirname, join } from "node:path";
import type { HardLimits, RunLimits } from "../limits.ts";
import type { ProcessEnd } from "../process-group.ts";
import { isolated, limitSteps, quoted, type Step, step } from "./program.ts";

/** A file or folder that a run sees, under the same path as outside the sandbox. */
export type Mount = {
  readonly path: string;
  /** The mounted file: `path` with symbolic links resolved. */
  readonly from: string;
  readonly isFolder: boolean;
  /**
   * `system`: read-only, with all mounts below it. `tool`: read-only. `read`: read-only data. `write`: the only place
   * that the run may write to. `device`: unchanged.
   */
  readonly as: "system" | "tool" | "read" | "write" | "device";
  /** The run starts only if the mounted file has this device and inode, such as `2049:131`. */
  readonly inode?: string;
};

/** The privileges with which this process creates namespaces: root's, or a user namespace of its own user. */
export type Privilege = "root" | "user";

export type Sandbox = {
  readonly privilege: Privilege;
  /** An empty folder on which each run mounts its root, in a mount namespace of its own. */
  readonly rootFolder: string;
  /**
   * True if the kernel counts the processes of each run separately: per scratch user, or since Linux 5.14 per user
   * namespace (getrlimit(2), RLIMIT_NPROC). Older kernels count all processes of the node's user.
   */
  readonly countsProcesses: boolean;
  /** False where the kernel forbids a user namespace to mount /proc (in a container that masks parts of it). */
  readonly hasProc: boolean;
  /** The mounts of all runs. */
  readonly mounts: readonly Mount[];
  /** The filter of system calls (seccomp.ts); null where it does not work. */
  readonly filter: string | null;
};

/** An unprivileged user that root chooses, with the groups that its devices need. */
export type ScratchUser = { readonly uid: number; readonly groups: readonly number[] };

export type SandboxedRun = {
  /** The tool and its arguments. */
  readonly command: readonly string[];
  readonly mounts: readonly Mount[];
  /** The working folder: the writable folder, or `/`. */
  readonly cwd: string;
  /** Null with the privilege `user`: its user namespace has no other user. */
  readonly user: ScratchUser | null;
  /** Files of an existing user namespace, if it has one, and its network namespace. Null: a new, empty network. */
  readonly enterNetwork: readonly string[] | null;
  readonly limits: RunLimits;
  readonly hardLimits: HardLimits;
  readonly oomScore: number;
  /** Added to the priority of this process. */
  readonly niceness: number;
};

/** Flags of mount(2): MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC; MS_REC binds the mounts below, too. */
const [READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS, RECURSIVE] = [1, 2, 4, 8, 16_384];
const DATA = NO_SETUID | NO_DEVICES | NO_PROGRAMS;
const FLAGS: Readonly<Record<Mount["as"], readonly [flags: number, recursive: number]>> = {
  system: [READ_ONLY | NO_SETUID | NO_DEVICES, RECURSIVE],
  tool: [READ_ONLY | NO_SETUID | NO_DEVICES, 0],
  read: [READ_ONLY | DATA, 0],
  write: [DATA, 0],
  device: [0, RECURSIVE],
};

/** CLONE_NEWNS, CLONE_NEWIPC and CLONE_NEWPID of clone(2); CLONE_NEWNET. */
const NAMESPACES = 0x20000 | 0x8000000 | 0x20000000;
export const NEW_NETWORK = 0x40000000;
/** MS_REC and MS_PRIVATE; MS_REMOUNT and MS_BIND. */
const PRIVATE = 0x44000;
const REMOUNT = 0x1020;
/** SECBIT_NOROOT and its lock (capabilities(7)): the namespace's root is an ordinary user. */
const NO_ROOT = 3;

/** The whole command line. The tool's own command comes last. */
export function sandboxedCommand(sandbox: Sandbox, run: SandboxedRun): string[] {
  const { privilege, rootFolder } = sandbox;
  const steps = [
    ...(run.niceness > 0 ? [`setpriority 0, 0, getpriority(0, 0) + ${run.niceness};`] : []),
    ...(run.enterNetwork ? [step("enter", ...run.enterNetwork)] : []),
    // Also within an existing network: otherwise the kernel counts the processes of all its runs together.
    ...(privilege === "user" ? [step("own_user")] : []),
    // After the change of user namespace, which clears the parent-death signal (prctl(2), PR_SET_PDEATHSIG).
    step("end_with_parent"),
    step("call", "unshare", NAMESPACES | (run.enterNetwork ? 0 : NEW_NETWORK)),
    "if (my $first = branch()) { exit end_of($first) }",
    // The first process of the namespaces builds the root and waits for the tool: the kernel shields a namespace's first
    // process from signals that must be able to end the tool.
    step("end_with_parent"),
    step("note", "/proc/self/oom_score_adj", `${run.oomScore}`),
    ...rootSteps(sandbox, run.mounts),
    'chdir "/";',
    "if (my $tool = branch()) { exit end_of($tool) }",
    // A process in a chroot cannot create user namespaces, so it cannot regain the privileges that it drops.
    `chroot $root && chdir ${quoted(run.cwd)} or fail("chroot: $!");`,
    step("drop_bounding"),
    ...(run.user ? userSteps(run.user) : [step("call", "prctl", 28, NO_ROOT, 0, 0, 0)]),
    ...limitSteps(run.limits, run.hardLimits),
    step("drop_privileges"),
    ...(sandbox.filter === null ? [] : [step("filter", sandbox.filter)]),
    step("start"),
  ];
  return isolated(steps, run.command, rootFolder);
}

const userSteps = ({ uid, groups }: ScratchUser): Step[] => [
  `call("setgroups", ${groups.length}, pack("L*", ${groups.join(", ")}));`,
  step("call", "setresgid", uid, uid, uid),
  step("call", "setresuid", uid, uid, uid),
];

/** Mounts a root that holds only mount points, and in it everything that the run sees. */
function rootSteps({ privilege, rootFolder, hasProc, mounts: common }: Sandbox, own: readonly Mount[]): Step[] {
  const mounts = [...common, ...own];
  const folders = mounts.map(({ path, isFolder }) => (isFolder ? path : dirname(path)));
  return [
    "umask 022;",
    step("call", "mount", "none", "/", 0, PRIVATE, 0),
    step("call", "mount", "tmpfs", rootFolder, "tmpfs", DATA, "mode=755,size=1m"),
    ...[...new Set(["/proc", ...folders])].map((path) => step("folder", path)),
    ...mounts.flatMap(({ path, isFolder }) => (isFolder ? [] : [step("note", join(rootFolder, path), "")])),
    ...mounts.map(({ from, path, as }) => step("mount_at", from, path, ...FLAGS[as])),
    ...(hasProc
      ? [step("call", "mount", "proc", join(rootFolder, "proc"), "proc", READ_ONLY | DATA, "hidepid=2")]
      : []),
    // Somebody may have replaced a folder of the path by a link after the node had opened the file.
    ...mounts.flatMap(({ path, inode }) => (inode === undefined ? [] : [step("require_inode", path, inode)])),
    // With root's privileges the tool has another user, which cannot write to the root folder anyway.
    ...(privilege === "user" ? [step("call", "mount", "none", rootFolder, 0, REMOUNT | READ_ONLY | DATA, 0)] : []),
  ];
}

/** Signals that end a program. The sandbox reports them as exit codes from 129 on, as shells do. */
const FATAL_SIGNALS = (
  "SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 " +
  "SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM SIGXCPU SIGXFSZ SIGSYS"
).split(" ") as NodeJS.Signals[];
const SIGNALS = new Map(FATAL_SIGNALS.map((signal) => [128 + constants.signals[signal], signal]));

/**
 * The end of the tool, derived from the end of the sandbox. Codes from 129 on can also be ffmpeg's errors 97 to 127
 * (errno). These errors all concern networks, and a run has none of those networks.
 */
export function toolEnd({ exitCode, signal }: ProcessEnd): ProcessEnd {
  const toolSignal = exitCode === null ? undefined : SIGNALS.get(exitCode);
  return toolSignal ? { exitCode: null, signal: toolSignal } : { exitCode, signal };
}
