// Runs an ffmpeg command that encodes: watches its progress, its disk and its limits.
import { readdir, statfs } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { basename } from "node:path";
import { messageOf } from "#shared/log.ts";
import { UNFILLED_AUDIO_GAP } from "./error-lines.ts";
import { DISK_RESERVE_BYTES, encodeLimits, type Machine, type RunLimits } from "./limits.ts";
import { INITIAL_PROGRESS, type Progress, readProgress } from "./read-progress.ts";
import { type CommandFailure, type CommandResult, type RunningTool, runTool, type ToolEnd } from "./run-tool.ts";
import type { RunNetwork } from "./sandbox/confine.ts";

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

/** A run that writes 1 GB/s cannot use up the disk reserve between two checks. */
const DISK_CHECK_MS = 250;

/** Files that a run leaves for the node's other work. */
const FREE_FILES = 10_000;
const FILES_CHECK_MS = 1000;

/** Expected counts are estimates when the frame rate varies, so only a large excess counts. */
const isRunaway = (frame: number, expected: number): boolean => frame > expected * 1.5 + 250;

/** Runs a command within the limits of limits.ts, as `runTool` does. Always resolves. */
export async function runCommand(command: Command): Promise<CommandResult> {
  const { path: tool, cwd, writesNothing = false } = command;
  const folder = writesNothing ? null : cwd;
  const limits = { ...encodeLimits(command, await thisMachine(folder)), ...command.limits };
  let checks: NodeJS.Timeout[] = [];
  const onStart = (running: RunningTool): void => {
    command.onStart?.(running.stderr);
    if (!writesNothing) checks = checkFolder(cwd, limits.files, running);
  };
  try {
    return resultOf(
      await runTool({ ...command, tool, folder, limits, onStart, onText: progressReader(command) }),
      limits,
    );
  } catch (error) {
    return { ok: false, reason: "exit", exitCode: null, stderrTail: cannotStart(command, error) };
  } finally {
    for (const check of checks) clearInterval(check);
  }
}

function checkFolder(folder: string, mostFiles: number, running: RunningTool): NodeJS.Timeout[] {
  const checkDisk = async (): Promise<void> => {
    const isFull = (await freeBytes(folder)) < DISK_RESERVE_BYTES / 2 || (await freeFiles(folder)) < FREE_FILES;
    if (isFull) running.stop("disk");
  };
  const checkFiles = async (): Promise<void> => {
    if ((await readdir(folder).catch(() => [])).length > mostFiles) running.stop("files");
  };
  return [setInterval(() => void checkDisk(), DISK_CHECK_MS), setInterval(() => void checkFiles(), FILES_CHECK_MS)];
}

function progressReader({ onProgress, expectedFrames }: Command): (text: string, running: RunningTool) => void {
  let reading = INITIAL_PROGRESS;
  return (text, running) => {
    const before = reading.progress;
    reading = readProgress(reading, text);
    const { progress } = reading;
    if (progress === before) return;
    if (progress.frame > before.frame || progress.outTimeMs > before.outTimeMs) running.advance();
    if (expectedFrames != null && isRunaway(progress.frame, expectedFrames)) running.stop("frames");
    onProgress?.(progress);
  };
}

function resultOf(end: ToolEnd, limits: RunLimits): CommandResult {
  const { exitCode, stopped, stderr, thrown } = end;
  const failed = { ok: false, exitCode } as const;
  if (stopped !== null && stopped !== "output") return { ...failed, reason: stopped, stderrTail: stderr };
  if (thrown !== null) {
    const problem = `The node cannot handle the progress: ${messageOf(thrown)}`;
    return { ...failed, reason: "exit", stderrTail: `${stderr}\n${problem}` };
  }
  if (exitCode === 0 && !UNFILLED_AUDIO_GAP.test(stderr)) return { ok: true };
  return { ...failed, ...causeOf(end, limits), stderrTail: stderr };
}

/** Exit codes of ffmpeg (ffmpeg.c) after every signal that asks it to stop, including SIGXCPU. */
const STOPPED_BY_SIGNAL: ReadonlySet<number | null> = new Set([123, 255]);

/** The cause of a failure that this process did not trigger: ffmpeg's own error, a kernel limit, or another signal. */
function causeOf(
  { exitCode, signal, tookMs }: ToolEnd,
  { cpuSeconds, exceededByFile }: RunLimits,
): Pick<CommandFailure, "reason" | "signal"> {
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

// The resources of this machine that limit a run of ffmpeg.

/** `folder` is the folder that the run writes to, or null. Memory is the container's where it has its own limit. */
export async function thisMachine(folder: string | null): Promise<Machine> {
  const contained = process.constrainedMemory();
  const memoryBytes = contained > 0 ? Math.min(contained, totalmem()) : totalmem();
  const free = folder === null ? Number.POSITIVE_INFINITY : await freeBytes(folder);
  return { cpus: availableParallelism(), memoryBytes, freeBytes: free };
}

/** Free space on the folder's disk for this user; `Infinity` when the system does not report it. */
export async function freeBytes(folder: string): Promise<number> {
  return statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  );
}

/**
 * Files that can still be created on the folder's disk; `Infinity` when its file system has no fixed number of files.
 */
export async function freeFiles(folder: string): Promise<number> {
  return statfs(folder).then(
    ({ files, ffree }) => (files > 0 ? ffree : Number.POSITIVE_INFINITY),
    () => Number.POSITIVE_INFINITY,
  );
}
