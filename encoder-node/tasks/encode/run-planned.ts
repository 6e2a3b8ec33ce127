// Runs planned ffmpeg commands, one after the other in one folder.
import type { Failure } from "#shared/errors.ts";
import type { PlannedRun } from "#shared/plan/command/planned-run.ts";
import { isBusy } from "../../ffmpeg/build/trial.ts";
import { explainFailure } from "../../ffmpeg/explain-failure.ts";
import { progressFraction } from "../../ffmpeg/read-progress.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import type { RunNetwork } from "../../ffmpeg/sandbox/confine.ts";
import type { LoopbackNetwork } from "../../ffmpeg/sandbox/loopback-network.ts";
import type { TaskDeps } from "../../task/task-deps.ts";

/**
 * ffmpeg is stuck after this time without progress. At the end it rewrites a large file for minutes without progress
 * lines.
 */
const STALL_MS = 300_000;

/** `busy`: the GPU had no free encoder session. */
export type RunFailure = { readonly failure: Failure; readonly busy: boolean };

export type RunDeps = Pick<TaskDeps, "ffmpeg" | "log" | "signal"> & {
  /** Files outside the folder that the runs may read. */
  readonly reads?: readonly string[];
  /** The network in which the source is served. Only runs with `network: "loopback"` enter it; all others have none. */
  readonly network?: LoopbackNetwork;
};

/**
 * Runs the commands until one fails, and returns that failure, or null. `onProgress` receives the number of completed
 * runs, with a fraction for the current one.
 */
export async function runAll(
  runs: readonly PlannedRun[],
  folder: string,
  onProgress: (done: number) => void,
  deps: RunDeps,
): Promise<RunFailure | null> {
  for (const [at, run] of runs.entries()) {
    const failure = await runOne(run, folder, (fraction) => onProgress(at + fraction), deps);
    if (failure) return failure;
  }
  return null;
}

async function runOne(
  run: PlannedRun,
  folder: string,
  onProgress: (fraction: number) => void,
  { ffmpeg, log, signal, reads, network }: RunDeps,
): Promise<RunFailure | null> {
  const startedAt = performance.now();
  log.info("ffmpeg started", { outputMs: run.durationMs, expectedFrames: run.expectedFrames });
  log.debug("ffmpeg command", { argv: run.argv.join(" "), network: run.network });
  const result = await runCommand({
    path: ffmpeg.path,
    argv: run.argv,
    cwd: folder,
    reads,
    network: networkOf(run, network),
    inHardware: run.inHardware,
    signal,
    stallMs: STALL_MS,
    expectedFrames: run.expectedFrames,
    durationMs: run.durationMs,
    onProgress: (progress) => onProgress(progressFraction(progress, run)),
  });
  log.debug("ffmpeg exited", {
    durationMs: Math.round(performance.now() - startedAt),
    ...(result.ok ? { ok: true } : { ok: false, reason: result.reason, exitCode: result.exitCode }),
  });
  if (result.ok) return null;
  return { failure: explainFailure(result.stderrTail, result), busy: isBusy(result.stderrTail) };
}

/** The plan alone decides whether a run has a network: its arguments may contain any URL. */
function networkOf(run: PlannedRun, loopback: LoopbackNetwork | undefined): RunNetwork {
  if (run.network === "none") return "none";
  if (!loopback) throw new Error("A run reads its source over loopback, but no loopback network is open");
  return loopback;
}
