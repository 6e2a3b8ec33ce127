// Runs planned ffmpeg commands, one after the other in a folder of their own.
import { join } from "node:path";
import { AppError, type Failure } from "#shared/errors.ts";
import type { PlannedRun } from "#shared/plan/command/planned-run.ts";
import type { RunInputs } from "#shared/plan/runs/plan-run.ts";
import type { EncodingRate } from "#shared/protocol/frames.ts";
import { isBusy } from "../ffmpeg/discover/trial.ts";
import { explainFailure } from "../ffmpeg/explain-failure.ts";
import { progressFraction, progressLine, rateOf } from "../ffmpeg/read-progress.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import type { RunNetwork } from "../ffmpeg/sandbox/confine.ts";
import type { LoopbackNetwork } from "../ffmpeg/sandbox/loopback-network.ts";
import { writeText } from "../run-files/open-file.ts";
import type { RunFiles } from "../run-files/run-files.ts";
import { type Burns, placeBurnFiles } from "../text/burn-in/burn-files.ts";
import type { TaskDeps } from "./task-deps.ts";
import type { ServedSource } from "./task-source.ts";

/**
 * ffmpeg counts as stuck after this time without progress. At the end it rewrites a large file for minutes without
 * progress lines.
 */
const STALL_MS = 300_000;

/** `busy`: the GPU had no free encoder session. */
export type RunFailure = { readonly failure: Failure; readonly busy: boolean };

/** Receives the number of completed runs, the fraction of the current run, and its encoding speed. */
export type OnRuns = (done: number, rate: EncodingRate) => void;

export type RunDeps = Pick<TaskDeps, "ffmpeg" | "log" | "signal" | "commands" | "trace" | "workFolder"> & {
  /** Files outside the folder that the runs may read. */
  readonly reads?: readonly string[];
  /** Captions and fonts for runs that draw captions. */
  readonly burns?: Burns | undefined;
  /**
   * The network in which the source is served. Only runs with `network: "loopback"` enter it; other runs have no
   * network.
   */
  readonly network?: LoopbackNetwork | undefined;
  /** While this is true the runs may wait for their input. */
  readonly mayWait?: () => boolean;
};

/** Runs the commands until one fails, and returns its failure. Null: all succeeded, and `files` has their results. */
export async function runAll(
  runs: readonly PlannedRun[],
  files: RunFiles,
  onProgress: OnRuns,
  deps: RunDeps,
): Promise<RunFailure | null> {
  if (runs.length === 0) return null;
  const all = async (cwd: string): Promise<RunFailure | null> => {
    for (const [at, run] of runs.entries()) {
      const failure = await runIn(cwd, run, (fraction, rate) => onProgress(at + fraction, rate), deps);
      if (failure) return failure;
    }
    return null;
  };
  return files.inRun(all, (failure) => failure === null);
}

/** A source, and other files that runs read: watermarks, text tracks, and captions with fonts. */
export type ReadInputs = ServedSource & RunInputs & Pick<RunDeps, "burns">;

/** Runs commands that read these inputs, as `runAll` does. */
export function runOn(
  { source, loopbackOptions, network, watermarks, textTracks, burns }: ReadInputs,
  runs: readonly PlannedRun[],
  files: RunFiles,
  onProgress: OnRuns,
  deps: RunDeps,
): Promise<RunFailure | null> {
  const local = loopbackOptions ? [] : [source];
  const reads = [...local, ...(watermarks?.values() ?? []), ...(textTracks?.values() ?? [])];
  return runAll(runs, files, onProgress, { ...deps, reads, network, burns });
}

/** Like `runOn`, but throws AppError with the failure, and when the signal aborts. */
export async function runOnSource(
  inputs: ReadInputs,
  runs: readonly PlannedRun[],
  files: RunFiles,
  deps: RunDeps,
  onProgress: OnRuns = () => undefined,
): Promise<void> {
  const failed = await runOn(inputs, runs, files, onProgress, deps);
  deps.signal.throwIfAborted();
  if (failed) throw AppError.from(failed.failure);
}

/** Runs one command in the folder of a run. */
export async function runIn(
  cwd: string,
  run: PlannedRun,
  onProgress: OnRuns,
  { ffmpeg, log, signal, commands, trace, workFolder, reads = [], burns, network, mayWait }: RunDeps,
): Promise<RunFailure | null> {
  if (burns !== undefined) await placeBurnFiles(run.argv, burns, cwd);
  const state = { stderrTail: (): string => "", progress: "" };
  const ended = commands.start(run.argv, cwd, () => `${state.stderrTail()}\n${state.progress}`);
  const endSpan = trace.begin("ffmpeg", { "copra.output_ms": run.durationMs ?? undefined });
  // The run may have another user.
  for (const { file, text } of run.texts ?? []) await writeText(join(cwd, file), text, 0o644);
  const startedAt = performance.now();
  log.info("ffmpeg started", { outputMs: run.durationMs, expectedFrames: run.expectedFrames });
  log.debug("ffmpeg command", { argv: run.argv.join(" "), network: run.network });
  const result = await runCommand({
    path: ffmpeg.path,
    argv: run.argv,
    cwd,
    reads: [...reads, ...(run.reads ?? [])],
    network: networkOf(run, network),
    inHardware: run.inHardware,
    signal,
    stallMs: STALL_MS,
    mayWait,
    expectedFrames: run.expectedFrames,
    durationMs: run.durationMs,
    onStart: (stderrTail) => Object.assign(state, { stderrTail }),
    onProgress: (progress) => {
      state.progress = progressLine(progress);
      onProgress(progressFraction(progress, run), rateOf(progress));
    },
  });
  ended(result);
  log.debug("ffmpeg exited", {
    durationMs: Math.round(performance.now() - startedAt),
    ...(result.ok ? { ok: true } : { ok: false, reason: result.reason, exitCode: result.exitCode }),
  });
  const failure = result.ok ? null : explainFailure(result.stderrTail, result, workFolder);
  endSpan(failure?.code ?? null);
  return failure && !result.ok ? { failure, busy: isBusy(result.stderrTail) } : null;
}

/** The plan alone decides whether a run has a network: its arguments may contain any URL. */
function networkOf(run: PlannedRun, loopback: LoopbackNetwork | undefined): RunNetwork {
  if (run.network === "none") return "none";
  if (!loopback) throw new Error("A run reads its source over loopback, but no loopback network is open");
  return loopback;
}
