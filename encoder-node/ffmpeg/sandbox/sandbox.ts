// The command line that runs a tool in a root of its own, by programs of util-linux alone. Pure.
import { constants } from "node:os";
import { join } from "node:path";
import { type HardLimits, limitArguments, type RunLimits } from "../limits.ts";

/** A file or folder that a run sees, under the same path as outside. */
export type Mount = {
  readonly path: string;
  /** What is mounted there: `path` with symbolic links resolved. */
  readonly from: string;
  readonly isFolder: boolean;
  /**
   * `system`: read-only, with all that is mounted below it. `tool`: read-only. `read`: read-only data. `write`: the one place
   * that the run may write to. `device`: as it is.
   */
  readonly as: "system" | "tool" | "read" | "write" | "device";
};

/** How this process may make namespaces: by its own privilege, or in a user namespace of its own user. */
export type Way = "root" | "user";

export type Sandbox = {
  readonly way: Way;
  /** An empty folder on which each run mounts its root, in a mount namespace of its own. */
  readonly rootFolder: string;
  /** False where the kernel does not let a user namespace mount its own (a container that masks parts of /proc). */
  readonly hasProc: boolean;
  /** What all runs see. */
  readonly mounts: readonly Mount[];
};

/** An unprivileged user of root's choice, with the groups that its devices need. */
export type ScratchUser = { readonly uid: number; readonly groups: readonly number[] };

export type SandboxedRun = {
  /** The tool and its arguments. */
  readonly command: readonly string[];
  readonly mounts: readonly Mount[];
  /** Where it starts: its writable folder, or `/`. */
  readonly cwd: string;
  /** Null in the way `user`: a user namespace of one user has no other. */
  readonly user: ScratchUser | null;
  /** The program that enters an existing network namespace (and its user namespace); null: a new and empty one. */
  readonly enterNetwork: readonly string[] | null;
  readonly limits: RunLimits;
  readonly hard: HardLimits;
  readonly oomScore: number;
  /** Added to the priority of this process. */
  readonly niceness: number;
};

const OPTIONS: Readonly<Record<Mount["as"], string>> = {
  // Flags of a mount that a user namespace inherits are locked: what is repeated here cannot be refused.
  system: "rbind,ro,nosuid,nodev",
  tool: "bind,ro,nosuid,nodev",
  read: "bind,ro,nosuid,nodev,noexec",
  write: "bind,rw,nosuid,nodev,noexec",
  device: "rbind",
};
/** For mount points and the table of mounts. */
const ROOT_OPTIONS = "mode=755,size=1m,nosuid,nodev,noexec";
const PROC_OPTIONS = "ro,nosuid,nodev,noexec,hidepid=2";

/** Exit code of the setup, before there is a tool; its words are in stderr. */
const SETUP_FAILED = 125;

/** The whole command line: the tool's last word is its own. */
export function sandboxedCommand(sandbox: Sandbox, run: SandboxedRun): string[] {
  const { way, rootFolder } = sandbox;
  const enter = run.enterNetwork ?? (way === "user" ? ["unshare", "--user", "--map-root-user", "--"] : []);
  return [
    ...(run.niceness > 0 ? ["nice", "-n", String(run.niceness)] : []),
    ...enter,
    // After a change of user namespace, which makes the kernel forget it (prctl(2), PR_SET_PDEATHSIG).
    ...["setpriv", "--pdeathsig", "KILL", "--"],
    ...["unshare", "--mount", "--pid", "--ipc", ...(run.enterNetwork ? [] : ["--net"])],
    ...["--fork", "--kill-child=KILL", "--", "sh", "-c", setupScript(sandbox, run), "sandbox"],
    // A process in a chroot may not make user namespaces, and so not regain what it gave up.
    ...["unshare", "--root", rootFolder, "--wd", run.cwd, "--"],
    ...["setpriv", ...privileges(run.user), "--"],
    ...["prlimit", ...limitArguments(run.limits, run.hard), "--"],
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
 * What the first process of the new namespaces does: it builds the root, starts the tool and waits for it. It stays, because the
 * kernel shields a namespace's first process from signals that a tool must be able to end by. The shell's own words about
 * how the tool ended go nowhere.
 */
function setupScript(
  { way, rootFolder, hasProc, mounts: common }: Sandbox,
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
    // Root's own folder is nothing that another user could write to.
    ...(way === "user" ? [`mount -o remount,bind,ro,nosuid,nodev,noexec ${quoted(rootFolder)} ${fail}`] : []),
    "cd /",
    "exec 3>&2 2>/dev/null",
    // In a subshell: a shell redirects its own words along with a command's. Not the last line: some shells become the last
    // command, and it would be the namespace's first process.
    '(exec "$@" 2>&3 3>&-)',
    "exit $?",
  ].join("\n");
}

/** In the form of fstab(5). */
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

/** Begins a line of stderr when one of these programs could not do its part, or could not start the command. */
export const NOT_STARTED = /^(?:nice|nsenter|unshare|setpriv|prlimit|mount|mkdir|sandbox|sh): /m;

/** Signals that end a program, by the codes that shells report them with. */
const ENDING = [
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
const SIGNALS = new Map(ENDING.map((signal) => [128 + constants.signals[signal], signal]));

export type End = { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null };

/**
 * How the tool ended, by how the sandbox did. Codes from 129 on are also those of ffmpeg's errors 97 to 127 (errno), all of
 * which are of networks that a run does not have.
 */
export function endOfTool({ exitCode, signal }: End): End {
  const toolSignal = exitCode === null ? undefined : SIGNALS.get(exitCode);
  return toolSignal ? { exitCode: null, signal: toolSignal } : { exitCode, signal };
}
