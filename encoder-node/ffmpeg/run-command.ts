// Runs one command of the ffmpeg family: watches its progress, stops it with all it started, keeps its last words.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { forgetGroup, killGroup, rememberGroup } from "./process-group.ts";
import { type Progress, readProgress, START_OF_PROGRESS } from "./read-progress.ts";
import { tiePrefix } from "./tie-to-parent.ts";
import { toolEnvironment } from "./tool-environment.ts";

export type Command = {
  readonly path: string;
  /** Must hold `-progress pipe:1` for progress, and for the stall watch, to work. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** How long neither frame nor time may stand still. */
  readonly stallMs: number;
  /** Guards against inputs that are small but describe days of video: far more frames than this end the run. */
  readonly expectedFrames?: number | null | undefined;
};

export type CommandFailure = {
  readonly ok: false;
  /** `signal`: something killed it: the system short of memory, or the guard of `expectedFrames`. */
  readonly reason: "exit" | "signal" | "stalled" | "aborted";
  readonly exitCode: number | null;
  /** The last 8 KB of its stderr. */
  readonly stderrTail: string;
};
export type CommandResult = { readonly ok: true } | CommandFailure;

type Child = ChildProcessByStdio<null, Readable, Readable>;
type Reason = CommandFailure["reason"];

const STDERR_KEEP_BYTES = 8192;
/** Always needed with ffmpeg 7.0: under `-nostdin` it catches SIGTERM and never looks at it. */
/** Output pipes may be held open by a process that left the group; the result does not wait for those. */
const PIPES_CLOSE_MS = 1000;

/** Expectations are estimates where the source's rate varies, so only a gross excess counts. */
const isRunaway = (frame: number, expected: number): boolean => frame > expected * 1.5 + 250;

/**
 * Runs a command to its end, whatever that is. Never rejects, and always settles. After an abort or a stall the group is
 * killed outright: nobody wants what it was making, and ffmpeg 7 under `-nostdin` encodes on after SIGTERM.
 */
export async function runCommand(command: Command): Promise<CommandResult> {
  const prefix = await tiePrefix();
  if (command.signal?.aborted) return { ok: false, reason: "aborted", exitCode: null, stderrTail: "" };
  try {
    return await watch(start(command, prefix), command);
  } catch (error) {
    return { ok: false, reason: "exit", exitCode: null, stderrTail: cannotStart(command, error) };
  }
}

async function watch(child: Child, command: Command): Promise<CommandResult> {
  const stderr = keepTail(child.stderr);
  const stopping = stopper(child);
  const stall = setTimeout(() => stopping.stop("stalled"), command.stallMs);
  watchProgress(child, command, {
    onAdvance: () => stall.refresh(),
    onRunaway: () => stopping.stop("signal", `\n${TOO_MANY_FRAMES}`),
  });
  const abort = (): void => stopping.stop("aborted");
  command.signal?.addEventListener("abort", abort);
  try {
    const exitCode = await ended(child);
    const why = stopping.why();
    if (!why && exitCode === 0) return { ok: true };
    const reason = why?.reason ?? (exitCode === null ? "signal" : "exit");
    return { ok: false, reason, exitCode, stderrTail: stderr() + (why?.note ?? "") };
  } finally {
    clearTimeout(stall);
    command.signal?.removeEventListener("abort", abort);
  }
}

/** What is added to the stderr of a run that the guard of `expectedFrames` ended. */
export const TOO_MANY_FRAMES = "The input yields far more frames than it announces";

/** The words that explain-failure.ts knows; the system's own may hold paths. */
function cannotStart({ path }: Command, error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return `Cannot start ${basename(path)}: ${code}`;
}

function start({ path, argv, cwd }: Command, prefix: readonly string[]): Child {
  const [program = path, ...rest] = [...prefix, path, ...argv];
  // Detached makes it the leader of a group of its own, which can be signalled as a whole.
  const child = spawn(program, rest, {
    cwd,
    env: toolEnvironment(),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (child.pid !== undefined) rememberGroup(child.pid);
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
  stop(reason: Reason, note?: string): void;
  why(): { reason: Reason; note: string } | null;
};

/** Ends the group once, for the first reason given. */
function stopper({ pid }: Child): Stopper {
  let why: ReturnType<Stopper["why"]> = null;
  return {
    stop(reason, note = "") {
      if (why || pid === undefined) return;
      why = { reason, note };
      killGroup(pid);
    },
    why: () => why,
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
function ended(child: Child): Promise<number | null> {
  return new Promise((settle, reject) => {
    let pipes: NodeJS.Timeout | undefined;
    child.once("error", (error) => {
      if (child.pid === undefined) reject(error);
    });
    child.once("exit", (exitCode) => {
      if (child.pid !== undefined) {
        killGroup(child.pid);
        forgetGroup(child.pid);
      }
      pipes = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        settle(exitCode);
      }, PIPES_CLOSE_MS);
    });
    child.once("close", (exitCode) => {
      clearTimeout(pipes);
      settle(exitCode);
    });
  });
}
