// Runs ffmpeg or ffprobe in its sandbox and within its limits, and kills it with all processes that it started.
import type { Readable } from "node:stream";
import { guarded } from "../async/guarded.ts";
import type { ExceededLimit } from "./limits.ts";
import { type ProcessEnd, type ProcessGroup, startGroup } from "./process-group.ts";
import { type ConfinedRun, type Confinement, confine } from "./sandbox/confine.ts";

/** Why a run was stopped. `output`: its reader wants no more. */
export type StopCause = Exclude<CommandFailure["reason"], "exit" | "signal"> | "output";

/** A run that has started. */
export type RunningTool = {
  /** Kills the process group. The first cause counts. */
  stop(cause: StopCause): void;
  /** Starts the stall timeout again. */
  advance(): void;
  /** The end of stderr so far. */
  stderr(): string;
};

export type ToolRun = Omit<Confinement, "reads" | "network"> & {
  readonly reads?: readonly string[] | undefined;
  /** `none` by default, whatever `argv` contains. */
  readonly network?: Confinement["network"] | undefined;
  /** The working folder where it differs from `folder`. */
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The run is killed unless `advance` is called this often. Never by default. */
  readonly stallMs?: number | undefined;
  /** While this is true the run may wait for its input, however long: no elapsed time ends it. Never by default. */
  readonly mayWait?: (() => boolean) | undefined;
  /** Size of the kept end of stderr; 8 KB by default. */
  readonly stderrBytes?: number | undefined;
  readonly onStart?: ((tool: RunningTool) => void) | undefined;
  /** Receives stdout in pieces. If it throws, the run is killed. */
  readonly onText?: ((text: string, tool: RunningTool) => void) | undefined;
};

/** `stopped` is null if the tool ended by itself. `thrown`: the first error of `onText`, or null. */
export type ToolEnd = ProcessEnd & {
  readonly stopped: StopCause | null;
  readonly stderr: string;
  readonly tookMs: number;
  readonly thrown: unknown;
};

const STDERR_TAIL_BYTES = 8192;

/**
 * Runs a tool. Rejects only if it cannot be started. After an abort, a stall or an exceeded limit the process group
 * gets SIGKILL. Nobody needs its output, and ffmpeg 7 with `-nostdin` ignores SIGTERM and keeps encoding.
 */
export async function runTool(run: ToolRun): Promise<ToolEnd> {
  const confined = await confine({ ...run, reads: run.reads ?? [], network: run.network ?? "none" });
  if (run.signal?.aborted) {
    return { exitCode: null, signal: null, stopped: "aborted", stderr: "", tookMs: 0, thrown: null };
  }
  const group = startGroup({ ...confined, cwd: run.cwd ?? run.folder ?? "/" });
  confined.started(group.pid);
  return watch(group, confined, run);
}

async function watch(group: ProcessGroup, confined: ConfinedRun, run: ToolRun): Promise<ToolEnd> {
  const { limits, signal, stallMs, mayWait, onText } = run;
  const startedAt = performance.now();
  let stopped: StopCause | null = null;
  let thrown: unknown = null;
  const stop = (cause: StopCause): void => {
    stopped ??= cause;
    group.kill();
  };
  const endAfter = (ms: number, cause: StopCause): NodeJS.Timeout => {
    const timer = setTimeout(() => void (mayWait?.() ? timer.refresh() : stop(cause)), ms);
    return timer;
  };
  const wall = endAfter(limits.wallMs, "time");
  const stall = stallMs === undefined ? undefined : endAfter(stallMs, "stalled");
  const stderr = keepTail(group.stderr, run.stderrBytes ?? STDERR_TAIL_BYTES);
  const tool: RunningTool = { stop, advance: () => stall?.refresh(), stderr };
  run.onStart?.(tool);
  const read = (text: string): void => {
    if (stopped === null && thrown === null) onText?.(text, tool);
  };
  const fail = (error: unknown): void => {
    thrown ??= error;
    group.kill();
  };
  group.stdout.setEncoding("utf8").on("data", guarded(read, fail));
  const abort = (): void => stop("aborted");
  signal?.addEventListener("abort", abort);
  try {
    const end = confined.endOf(await group.ended);
    return { ...end, stopped, stderr: stderr(), tookMs: performance.now() - startedAt, thrown };
  } finally {
    clearTimeout(wall);
    clearTimeout(stall);
    signal?.removeEventListener("abort", abort);
  }
}

function keepTail(stream: Readable, mostBytes: number): () => string {
  const pieces: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (piece: Buffer) => {
    pieces.push(piece);
    bytes += piece.length;
    for (let [first] = pieces; first && bytes - first.length >= mostBytes; [first] = pieces) {
      bytes -= first.length;
      pieces.shift();
    }
  });
  return () => Buffer.concat(pieces).subarray(-mostBytes).toString();
}

// The result of a run of an ffmpeg tool.

export type CommandFailure = {
  readonly ok: false;
  /**
   * `signal`: the tool crashed, or the system killed it because memory ran out. `exit` with code 0: stderr reports a
   * failure that the exit code hides.
   */
  readonly reason: "exit" | "signal" | "stalled" | "aborted" | ExceededLimit;
  readonly exitCode: number | null;
  /** The signal that ended the tool, when `reason` is `signal`. */
  readonly signal?: NodeJS.Signals;
  /** The last 8 KB of stderr. */
  readonly stderrTail: string;
};
export type CommandResult = { readonly ok: true } | CommandFailure;

/** Signals that a program causes by its own fault. All others come from outside. */
export const CRASH_SIGNALS: ReadonlySet<string> = new Set([
  "SIGSEGV",
  "SIGABRT",
  "SIGBUS",
  "SIGFPE",
  "SIGILL",
  "SIGTRAP",
  "SIGSYS",
]);
