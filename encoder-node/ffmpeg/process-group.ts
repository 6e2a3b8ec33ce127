// A child process as the leader of a process group: killing the group ends everything that the process started.
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";

export type ProcessEnd = { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null };

export type ProcessGroup = {
  /** Undefined when the process could not be started. */
  readonly pid: number | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Kills all processes of the group with SIGKILL. */
  kill(): void;
  /** Settles when the process has exited and its output is read. Rejects when the process could not be started. */
  readonly ended: Promise<ProcessEnd>;
};

export type GroupCommand = {
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** A process that left the group may hold the output pipes open. The result does not wait longer than this for them. */
const PIPES_CLOSE_MS = 1000;

/** Starts a process and its group. When this process exits normally, the groups that still run are killed. */
export function startGroup({ program, argv, cwd, env }: GroupCommand): ProcessGroup {
  const child = spawn(program, argv, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const { pid, stdout, stderr } = child;
  if (pid !== undefined) remember(pid);
  const kill = (): void => {
    if (pid !== undefined) killGroup(pid);
  };
  const ended = new Promise<ProcessEnd>((settle, reject) => {
    let pipes: NodeJS.Timeout | undefined;
    child.once("error", (error) => {
      if (pid === undefined) reject(error);
    });
    child.once("exit", (exitCode, signal) => {
      kill();
      if (pid !== undefined) running.delete(pid);
      pipes = setTimeout(() => {
        stdout.destroy();
        stderr.destroy();
        settle({ exitCode, signal });
      }, PIPES_CLOSE_MS);
    });
    child.once("close", (exitCode, signal) => {
      clearTimeout(pipes);
      settle({ exitCode, signal });
    });
  });
  return { pid, stdout, stderr, kill, ended };
}

const running = new Set<number>();
let killsOnExit = false;

function remember(leader: number): void {
  running.add(leader);
  // A single listener for all groups: a listener per group would trigger Node's leak warning on a busy machine.
  if (!killsOnExit) process.once("exit", () => running.forEach(killGroup));
  killsOnExit = true;
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // ESRCH: the group has already ended.
  }
}
