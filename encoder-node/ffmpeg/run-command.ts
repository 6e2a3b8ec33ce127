// Runs one command of the ffmpeg family: watches its progress, stops it with all it started, keeps its last words.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { GAP_NOT_FILLED } from "./explain-failure.ts";
import { type Breach, DISK_RESERVE_BYTES, encodeLimits, type RunLimits } from "./limits.ts";
import { freeBytes, thisMachine } from "./machine.ts";
import { forgetGroup, killGroup, rememberGroup } from "./process-group.ts";
import { type Progress, readProgress, START_OF_PROGRESS } from "./read-progress.ts";
import { type ConfinedRun, confine, type RunNetwork } from "./sandbox/confine.ts";
import type { End } from "./sandbox/sandbox.ts";

export type Command = {
  readonly path: string;
  /** Must hold `-progress pipe:1` for progress, and for the stall watch, to work. */
  readonly argv: readonly string[];
  /** The run's own folder: all that it can write to, private to this process's user. With `writesNothing` it is not even seen. */
  readonly cwd: string;
  /** Files outside its folder that it may read. */
  readonly reads?: readonly string[] | undefined;
  /** `none` unless given. */
  readonly network?: RunNetwork | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** How long neither frame nor time may stand still. */
  readonly stallMs: number;
  /** Guards against inputs that are small but describe days of video: far more frames than this end the run. */
  readonly expectedFrames?: number | null | undefined;
  /** Of the longest output: how long the run may take, and how much it may write, grow with it. */
  readonly durationMs?: number | null | undefined;
  /** The disk of its folder, which may be a small one, is no concern of such a run. */
  readonly writesNothing?: boolean | undefined;
  /** For tests; else what limits.ts says of such a run. */
  readonly limits?: Partial<RunLimits> | undefined;
};

export type CommandFailure = {
  readonly ok: false;
  /** `signal`: it crashed, or the system killed it, short of memory. `exit` with code 0: by its words all is not well. */
  readonly reason: "exit" | "signal" | "stalled" | "aborted" | Breach;
  readonly exitCode: number | null;
  /** Of `signal`: by which it ended. */
  readonly signal?: NodeJS.Signals;
  /** The last 8 KB of its stderr. */
  readonly stderrTail: string;
};
export type CommandResult = { readonly ok: true } | CommandFailure;

type Child = ChildProcessByStdio<null, Readable, Readable>;
type Why = Pick<CommandFailure, "reason" | "signal">;

const STDERR_KEEP_BYTES = 8192;
/** Output pipes may be held open by a process that left the group; the result does not wait for those. */
const PIPES_CLOSE_MS = 1000;
/** A run that writes 1 GB/s does not use up the reserve in between. */
const DISK_WATCH_MS = 250;

/** Expectations are estimates where the source's rate varies, so only a gross excess counts. */
const isRunaway = (frame: number, expected: number): boolean => frame > expected * 1.5 + 250;

/**
 * Runs a command to its end, whatever that is, within the limits of limits.ts. Never rejects, and always settles. After an
 * abort, a stall or a breach the group is killed outright: nobody wants what it was making, and ffmpeg 7 under `-nostdin`
 * encodes on after SIGTERM.
 */
export async function runCommand(command: Command): Promise<CommandResult> {
  const machine = await thisMachine(command.writesNothing ? null : command.cwd);
  const limits = { ...encodeLimits(command, machine), ...command.limits };
  try {
    const confined = await confine({
      ...{ tool: command.path, argv: command.argv, reads: command.reads ?? [], limits },
      folder: command.writesNothing ? null : command.cwd,
      network: command.network ?? "none",
    });
    if (command.signal?.aborted) return { ok: false, reason: "aborted", exitCode: null, stderrTail: "" };
    return await watch(start(command, confined), confined, command, limits);
  } catch (error) {
    return { ok: false, reason: "exit", exitCode: null, stderrTail: cannotStart(command, error) };
  }
}

async function watch(child: Child, confined: ConfinedRun, command: Command, limits: RunLimits): Promise<CommandResult> {
  const stderr = keepTail(child.stderr);
  const startedAt = performance.now();
  const stopping = stopper(child);
  const stall = setTimeout(() => stopping.stop({ reason: "stalled" }), command.stallMs);
  const breach = (reason: Breach) => (): void => stopping.stop({ reason });
  const wall = setTimeout(breach("time"), limits.wallMs);
  const look = (): void => void whenDiskIsFull(command.cwd, breach("disk"));
  const disk = command.writesNothing ? undefined : setInterval(look, DISK_WATCH_MS);
  watchProgress(child, command, { onAdvance: () => stall.refresh(), onRunaway: breach("frames") });
  const abort = (): void => stopping.stop({ reason: "aborted" });
  command.signal?.addEventListener("abort", abort);
  try {
    const end = confined.endOf(await ended(child));
    const why = stopping.why();
    if (!why && end.exitCode === 0 && !GAP_NOT_FILLED.test(stderr())) return { ok: true };
    const { exitCode } = end;
    const reason = why ?? reasonOf(end, limits, performance.now() - startedAt);
    return { ok: false, ...reason, exitCode, stderrTail: stderr() };
  } finally {
    clearTimeout(stall);
    clearTimeout(wall);
    clearInterval(disk);
    command.signal?.removeEventListener("abort", abort);
  }
}

async function whenDiskIsFull(folder: string, act: () => void): Promise<void> {
  if ((await freeBytes(folder)) < DISK_RESERVE_BYTES / 2) act();
}

/** ffmpeg catches SIGXCPU and ends with one of these, as after all signals that ask it to stop (ffmpeg.c). */
const ASKED_TO_STOP: ReadonlySet<number | null> = new Set([123, 255]);

/** Why a command failed that nobody here stopped: by its own will, by the kernel's limits, or by another signal. */
function reasonOf({ exitCode, signal }: End, { cpuSeconds, fileBreach }: RunLimits, tookMs: number): Why {
  const mayHaveUsedUp = tookMs * availableParallelism() >= cpuSeconds * 1000;
  if (signal === "SIGXCPU" || (ASKED_TO_STOP.has(exitCode) && mayHaveUsedUp)) return { reason: "time" };
  if (signal === "SIGXFSZ") return { reason: fileBreach };
  return signal === null ? { reason: "exit" } : { reason: "signal", signal };
}

/** The words that explain-failure.ts knows; the system's own may hold paths. */
function cannotStart({ path }: Command, error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return `Cannot start ${basename(path)}: ${code}`;
}

function start({ cwd }: Command, { program, argv, env, started }: ConfinedRun): Child {
  // Detached makes it the leader of a group of its own, which can be signalled as a whole.
  const child = spawn(program, argv, {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (child.pid !== undefined) {
    rememberGroup(child.pid);
    started(child.pid);
  }
  return child;
}

function keepTail(stream: Readable): () => string {
  let tail = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-STDERR_KEEP_BYTES);
  });
  return () => tail.toString();
}

type Stopper = {
  stop(why: Why): void;
  why(): Why | null;
};

/** Ends the group once, for the first reason given. */
function stopper({ pid }: Child): Stopper {
  let first: Why | null = null;
  return {
    stop(why) {
      if (first || pid === undefined) return;
      first = why;
      killGroup(pid);
    },
    why: () => first,
  };
}

type Watcher = { onAdvance(): void; onRunaway(): void };

function watchProgress({ stdout }: Child, { onProgress, expectedFrames }: Command, watcher: Watcher): void {
  let reading = START_OF_PROGRESS;
  stdout.setEncoding("utf8").on("data", (text: string) => {
    const before = reading.progress;
    reading = readProgress(reading, text);
    const { progress } = reading;
    if (progress === before) return;
    if (progress.frame > before.frame || progress.outTimeMs > before.outTimeMs) watcher.onAdvance();
    if (expectedFrames != null && isRunaway(progress.frame, expectedFrames)) watcher.onRunaway();
    onProgress?.(progress);
  });
}

/** Waits until the process has gone and its output is read, or will not come. Rejects when it could not be started. */
function ended(child: Child): Promise<End> {
  return new Promise((settle, reject) => {
    let pipes: NodeJS.Timeout | undefined;
    child.once("error", (error) => {
      if (child.pid === undefined) reject(error);
    });
    child.once("exit", (exitCode, signal) => {
      if (child.pid !== undefined) {
        killGroup(child.pid);
        forgetGroup(child.pid);
      }
      pipes = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        settle({ exitCode, signal });
      }, PIPES_CLOSE_MS);
    });
    child.once("close", (exitCode, signal) => {
      clearTimeout(pipes);
      settle({ exitCode, signal });
    });
  });
}
