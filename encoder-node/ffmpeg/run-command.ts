// Runs an ffmpeg or ffprobe command: watches its progress and limits, and kills it with all processes that it started.
import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import type { Readable } from "node:stream";
import { messageOf } from "#shared/log.ts";
import { guarded } from "../async/guarded.ts";
import type { CommandFailure, CommandResult } from "./command-result.ts";
import { UNFILLED_AUDIO_GAP } from "./error-lines.ts";
import { DISK_RESERVE_BYTES, encodeLimits, type RunLimits } from "./limits.ts";
import { freeBytes, freeFiles, thisMachine } from "./machine.ts";
import { type ProcessEnd, type ProcessGroup, startGroup } from "./process-group.ts";
import { INITIAL_PROGRESS, type Progress, readProgress } from "./read-progress.ts";
import { type ConfinedRun, confine, type RunNetwork } from "./sandbox/confine.ts";

export type Command = {
  /** The path of the tool. */
  readonly path: string;
  /** Must contain `-progress pipe:1`, or neither `onProgress` nor the stall timeout sees any progress. */
  readonly argv: readonly string[];
  /**
   * The run's own folder, private to this process's user: the only place that the run can write to. With
   * `writesNothing` the run cannot even see it.
   */
  readonly cwd: string;
  /** Files outside the folder that the run may read. */
  readonly reads?: readonly string[] | undefined;
  /** `none` by default, whatever `argv` contains. */
  readonly network?: RunNetwork | undefined;
  /** The run encodes in hardware: it gets the GPU's devices and no memory limit. False by default. */
  readonly inHardware?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Receives a function that returns the end of stderr so far. */
  readonly onStart?: ((stderrTail: () => string) => void) | undefined;
  /** The run is killed when neither the frame count nor the output time advances for this long. */
  readonly stallMs: number;
  /** While this is true the run may wait for its input, however long: no elapsed time ends it. Never by default. */
  readonly mayWait?: (() => boolean) | undefined;
  /**
   * Frames that the run is expected to make. Far more than this end the run: a small file can describe days of video.
   */
  readonly expectedFrames?: number | null | undefined;
  /** Duration of the longest output. The limits on time and file size grow with it. */
  readonly durationMs?: number | null | undefined;
  /** The run writes no file, so free space on the disk of `cwd` does not matter. */
  readonly writesNothing?: boolean | undefined;
  /** Overrides the limits of limits.ts, for tests. */
  readonly limits?: Partial<RunLimits> | undefined;
};

/** Why a run failed or was stopped. */
type Cause = Pick<CommandFailure, "reason" | "signal">;

const STDERR_TAIL_BYTES = 8192;
/** A run that writes 1 GB/s cannot use up the disk reserve between two checks. */
const DISK_CHECK_MS = 250;

/** Files that a run leaves for the node's other work. */
const FREE_FILES = 10_000;
const FILES_CHECK_MS = 1000;

/** Expected counts are estimates when the frame rate varies, so only a large excess counts. */
const isRunaway = (frame: number, expected: number): boolean => frame > expected * 1.5 + 250;

/**
 * Runs a command within the limits of limits.ts. Always resolves. After an abort, a stall or an exceeded limit the
 * process group gets SIGKILL. Nobody needs its output, and ffmpeg 7 with `-nostdin` ignores SIGTERM and keeps encoding.
 */
export async function runCommand(command: Command): Promise<CommandResult> {
  const machine = await thisMachine(command.writesNothing ? null : command.cwd);
  const limits = { ...encodeLimits(command, machine), ...command.limits };
  try {
    const confined = await confine({
      tool: command.path,
      argv: command.argv,
      reads: command.reads ?? [],
      limits,
      folder: command.writesNothing ? null : command.cwd,
      network: command.network ?? "none",
      inHardware: command.inHardware ?? false,
    });
    if (command.signal?.aborted) return { ok: false, reason: "aborted", exitCode: null, stderrTail: "" };
    const group = startGroup({ ...confined, cwd: command.cwd });
    if (group.pid !== undefined) confined.started(group.pid);
    return await watch(group, confined, command, limits);
  } catch (error) {
    return { ok: false, reason: "exit", exitCode: null, stderrTail: cannotStart(command, error) };
  }
}

async function watch(
  group: ProcessGroup,
  confined: ConfinedRun,
  command: Command,
  limits: RunLimits,
): Promise<CommandResult> {
  const stderr = keepTail(group.stderr);
  command.onStart?.(stderr);
  const startedAt = performance.now();
  const stopping = stopper(group);
  const stop = (reason: CommandFailure["reason"]) => (): void => stopping.stop({ reason });
  const abort = stop("aborted");
  const stall = setTimeout(() => {
    if (command.mayWait?.()) stall.refresh();
    else stop("stalled")();
  }, command.stallMs);
  const wall = setTimeout(() => {
    if (command.mayWait?.()) wall.refresh();
    else stop("time")();
  }, limits.wallMs);
  const checkDisk = (): void => void whenDiskIsFull(command.cwd, stop("disk"));
  const disk = command.writesNothing ? undefined : setInterval(checkDisk, DISK_CHECK_MS);
  const checkFiles = (): void => void whenTooManyFiles(command.cwd, limits.files, stop("files"));
  const files = command.writesNothing ? undefined : setInterval(checkFiles, FILES_CHECK_MS);
  let problem = "";
  const onError = (error: unknown): void => {
    problem ||= `\nThe node cannot handle the progress: ${messageOf(error)}`;
    stop("exit")();
  };
  watchProgress(group.stdout, command, { onAdvance: () => stall.refresh(), onRunaway: stop("frames"), onError });
  command.signal?.addEventListener("abort", abort);
  try {
    const end = confined.endOf(await group.ended);
    const cause = stopping.cause();
    if (!cause && end.exitCode === 0 && !UNFILLED_AUDIO_GAP.test(stderr())) return { ok: true };
    const why = cause ?? causeOf(end, limits, performance.now() - startedAt);
    return { ok: false, ...why, exitCode: end.exitCode, stderrTail: stderr() + problem };
  } finally {
    clearTimeout(stall);
    clearTimeout(wall);
    clearInterval(disk);
    clearInterval(files);
    command.signal?.removeEventListener("abort", abort);
  }
}

async function whenDiskIsFull(folder: string, act: () => void): Promise<void> {
  if ((await freeBytes(folder)) < DISK_RESERVE_BYTES / 2 || (await freeFiles(folder)) < FREE_FILES) act();
}

async function whenTooManyFiles(folder: string, most: number, act: () => void): Promise<void> {
  if ((await readdir(folder).catch(() => [])).length > most) act();
}

/** Exit codes of ffmpeg (ffmpeg.c) after every signal that asks it to stop, including SIGXCPU. */
const STOPPED_BY_SIGNAL: ReadonlySet<number | null> = new Set([123, 255]);

/** The cause of a failure that this process did not trigger: ffmpeg's own error, a kernel limit, or another signal. */
function causeOf({ exitCode, signal }: ProcessEnd, { cpuSeconds, exceededByFile }: RunLimits, tookMs: number): Cause {
  const mayHaveUsedUpCpu = tookMs * availableParallelism() >= cpuSeconds * 1000;
  if (signal === "SIGXCPU" || (STOPPED_BY_SIGNAL.has(exitCode) && mayHaveUsedUpCpu)) return { reason: "time" };
  if (signal === "SIGXFSZ") return { reason: exceededByFile };
  return signal === null ? { reason: "exit" } : { reason: "signal", signal };
}

/** A message that explain-failure.ts recognizes. The system's own message may contain paths. */
function cannotStart({ path }: Command, error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  return `Cannot start ${basename(path)}: ${code}`;
}

function keepTail(stream: Readable): () => string {
  let tail = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-STDERR_TAIL_BYTES);
  });
  return () => tail.toString();
}

type Stopper = { stop(cause: Cause): void; cause(): Cause | null };

/** Kills the group once and keeps the first cause. */
function stopper(group: ProcessGroup): Stopper {
  let first: Cause | null = null;
  return {
    stop(cause) {
      if (first || group.pid === undefined) return;
      first = cause;
      group.kill();
    },
    cause: () => first,
  };
}

type Watcher = { onAdvance(): void; onRunaway(): void; onError(error: unknown): void };

function watchProgress(stdout: Readable, { onProgress, expectedFrames }: Command, watcher: Watcher): void {
  let reading = INITIAL_PROGRESS;
  const read = (text: string): void => {
    const before = reading.progress;
    reading = readProgress(reading, text);
    const { progress } = reading;
    if (progress === before) return;
    if (progress.frame > before.frame || progress.outTimeMs > before.outTimeMs) watcher.onAdvance();
    if (expectedFrames != null && isRunaway(progress.frame, expectedFrames)) watcher.onRunaway();
    onProgress?.(progress);
  };
  stdout.setEncoding("utf8").on("data", guarded(read, watcher.onError));
}
