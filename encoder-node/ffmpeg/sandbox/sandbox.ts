// Builds the command line that runs a tool in its own root, with programs of util-linux only. Pure.
import { constants } from "node:os";
import { join } from "node:path";
import { type HardLimits, limitArguments, type RunLimits } from "../limits.ts";
import type { ProcessEnd } from "../process-group.ts";

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
  /** The command prefix that filters system calls (seccomp.ts); empty where it does not work. */
  readonly filter: readonly string[];
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
  /**
   * The command prefix that enters an existing network namespace and its user namespace. Null: a new, empty network.
   */
  readonly enterNetwork: readonly string[] | null;
  readonly limits: RunLimits;
  readonly hardLimits: HardLimits;
  readonly oomScore: number;
  /** Added to the priority of this process. */
  readonly niceness: number;
};

const OPTIONS: Readonly<Record<Mount["as"], string>> = {
  // A user namespace cannot clear the flags of mounts that it inherits. Repeating the flags here always succeeds.
  system: "rbind,ro,nosuid,nodev",
  tool: "bind,ro,nosuid,nodev",
  read: "bind,ro,nosuid,nodev,noexec",
  write: "bind,rw,nosuid,nodev,noexec",
  device: "rbind",
};
/** The root holds only mount points and the mount table. */
const ROOT_OPTIONS = "mode=755,size=1m,nosuid,nodev,noexec";
const PROC_OPTIONS = "ro,nosuid,nodev,noexec,hidepid=2";

/** Exit code when the setup fails before the tool starts. The message is in stderr. */
const SETUP_FAILED = 125;

const OWN_USER = ["unshare", "--user", "--map-root-user", "--"];

const REPLACED = `|| { echo "sandbox: the source was replaced" >&2; exit ${SETUP_FAILED}; }`;

/** The whole command line. The tool's own command comes last. */
export function sandboxedCommand(sandbox: Sandbox, run: SandboxedRun): string[] {
  const { privilege, rootFolder } = sandbox;
  // A separate user namespace also within an existing network: otherwise the kernel counts the processes of all its
  // runs together.
  const enter = [...(run.enterNetwork ?? []), ...(privilege === "user" ? OWN_USER : [])];
  return [
    ...(run.niceness > 0 ? ["nice", "-n", String(run.niceness)] : []),
    ...enter,
    // After the change of user namespace, which clears the parent-death signal (prctl(2), PR_SET_PDEATHSIG).
    ...["setpriv", "--pdeathsig", "KILL", "--"],
    ...["unshare", "--mount", "--pid", "--ipc", ...(run.enterNetwork ? [] : ["--net"])],
    ...["--fork", "--kill-child=KILL", "--", "sh", "-c", setupScript(sandbox, run), "sandbox"],
    // A process in a chroot cannot create user namespaces, so it cannot regain the privileges that it drops.
    ...["unshare", "--root", rootFolder, "--wd", run.cwd, "--"],
    ...["setpriv", ...privileges(run.user), "--"],
    ...["prlimit", ...limitArguments(run.limits, run.hardLimits), "--"],
    ...sandbox.filter,
    ...run.command,
  ];
}

const NO_CAPABILITIES = ["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"];

function privileges(user: ScratchUser | null): string[] {
  if (!user) return [...NO_CAPABILITIES, "--securebits=+noroot,+noroot_locked"];
  const groups = user.groups.length > 0 ? ["--groups", user.groups.join(",")] : ["--clear-groups"];
  return ["--reuid", String(user.uid), "--regid", String(user.uid), ...groups, ...NO_CAPABILITIES];
}

/**
 * The script of the first process in the new namespaces: it builds the root, starts the tool and waits for it. The
 * shell stays, because the kernel shields a namespace's first process from signals that must be able to end the tool.
 * The shell's own messages about how the tool ended are discarded.
 */
function setupScript(
  { privilege, rootFolder, hasProc, mounts: common }: Sandbox,
  { mounts, oomScore }: SandboxedRun,
): string {
  const all = [...common, ...mounts];
  const inside = (path: string): string => quoted(join(rootFolder, path));
  const folders = all.map(({ path, isFolder }) => (isFolder ? path : join(path, "..")));
  const files = all.filter(({ isFolder }) => !isFolder).map(({ path }) => path);
  const fail = `|| exit ${SETUP_FAILED}`;
  return [
    `echo ${oomScore} 2>/dev/null > /proc/self/oom_score_adj`,
    "umask 022",
    `mount -t tmpfs -o ${ROOT_OPTIONS} tmpfs ${quoted(rootFolder)} ${fail}`,
    `mkdir -p -- ${[...new Set(["/proc", ...folders])].map(inside).join(" ")} ${fail}`,
    ...(files.length > 0 ? [`for f in ${files.map(inside).join(" ")}; do : > "$f" ${fail}; done`] : []),
    `printf %s ${quoted(mountTable(rootFolder, all, hasProc))} > ${inside("/proc/table")} ${fail}`,
    `mount -a -T ${inside("/proc/table")} ${fail}`,
    // Somebody may have replaced a folder of the path by a link after the node had opened the file.
    ...all.flatMap(({ path, inode }) =>
      inode === undefined ? [] : [`[ "$(stat -c %d:%i ${inside(path)})" = ${quoted(inode)} ] ${REPLACED}`],
    ),
    // With root's privileges the tool has another user, which cannot write to the root folder anyway.
    ...(privilege === "user" ? [`mount -o remount,bind,ro,nosuid,nodev,noexec ${quoted(rootFolder)} ${fail}`] : []),
    "cd /",
    "exec 3>&2 2>/dev/null",
    // In a subshell, because a shell redirects its own messages together with a command's. Not in the last line,
    // because some shells replace themselves with the last command, which would then be the namespace's first process.
    '(exec "$@" 2>&3 3>&-)',
    "exit $?",
  ].join("\n");
}

/** The mounts in the format of fstab(5). */
function mountTable(rootFolder: string, mounts: readonly Mount[], hasProc: boolean): string {
  const line = (from: string, path: string, type: string, options: string): string =>
    `${[from, join(rootFolder, path)].map(escaped).join(" ")} ${type} ${options} 0 0\n`;
  return [
    ...mounts.map(({ from, path, as }) => line(from, path, "none", OPTIONS[as])),
    ...(hasProc ? [line("proc", "/proc", "proc", PROC_OPTIONS)] : []),
  ].join("");
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const escaped = (path: string): string =>
  path.replace(/[\s\\#]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);

/**
 * Matches a line of stderr in which a program of the sandbox reports that it failed or could not start the next
 * program.
 */
export const SANDBOX_FAILURE = /^(?:nice|nsenter|unshare|setpriv|prlimit|mount|mkdir|sandbox|seccomp|sh): /m;

/** Signals that end a program. Shells report them as exit codes from 129 on. */
const FATAL_SIGNALS = [
  ...[
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
  ],
  ...["SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGSYS"],
] as readonly NodeJS.Signals[];
const SIGNALS = new Map(FATAL_SIGNALS.map((signal) => [128 + constants.signals[signal], signal]));

/**
 * The end of the tool, derived from the end of the sandbox. Codes from 129 on can also be ffmpeg's errors 97 to 127
 * (errno). These errors all concern networks, and a run has none of those networks.
 */
export function toolEnd({ exitCode, signal }: ProcessEnd): ProcessEnd {
  const toolSignal = exitCode === null ? undefined : SIGNALS.get(exitCode);
  return toolSignal ? { exitCode: null, signal: toolSignal } : { exitCode, signal };
}
