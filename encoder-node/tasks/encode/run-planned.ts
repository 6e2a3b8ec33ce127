// Runs calls of ffmpeg that were planned, one after the other in one folder.
import type { Failure } from "#shared/errors.ts";
import type { PlannedRun } from "#shared/plan/command/planned-run.ts";
import { isBusy } from "../../ffmpeg/build/trial.ts";
import { explainFailure } from "../../ffmpeg/explain-failure.ts";
import { progressFraction } from "../../ffmpeg/read-progress.ts";
import { runCommand } from "../../ffmpeg/run-command.ts";
import type { RunNetwork } from "../../ffmpeg/sandbox/confine.ts";
import type { LoopbackNetwork } from "../../ffmpeg/sandbox/loopback-network.ts";
import type { TaskDeps } from "../../task/task-deps.ts";

/** ffmpeg that makes no headway for so long is stuck. At the end it rewrites a large file for minutes without a word. */
const STALL_MS = 300_000;

/** `busy`: a GPU had no session left. */
export type RunFailure = { readonly failure: Failure; readonly busy: boolean };

export type RunDeps = Pick<TaskDeps, "ffmpeg" | "log" | "signal"> & {
  /** Files outside their folder that the runs read. */
  readonly reads?: readonly string[];
  /** The network in which the source is served. Only runs with `network: "loopback"` enter it; all others have none. */
  readonly network?: LoopbackNetwork;
};

/**
 * Answers why the first run that failed did so, or null. `tell` takes how many runs are done, with a fraction for the one that is
 * under way.
 */
export async function runAll(
  runs: readonly PlannedRun[],
  folder: string,
  tell: (done: number) => void,
  deps: RunDeps,
): Promise<RunFailure | null> {
  for (const [at, run] of runs.entries()) {
    const failure = await runOne(run, folder, (fraction) => tell(at + fraction), deps);
    if (failure) return failure;
  }
  return null;
}

async function runOne(
  run: PlannedRun,
  folder: string,
  tell: (fraction: number) => void,
  { ffmpeg, log, signal, reads, network }: RunDeps,
): Promise<RunFailure | null> {
  log.info("ffmpeg starts", { argv: run.argv.join(" ") });
  const result = await runCommand({
    path: ffmpeg.path,
    argv: run.argv,
    cwd: folder,
    reads,
    network: networkOf(run, network),
    signal,
    stallMs: STALL_MS,
    expectedFrames: run.expectedFrames,
    durationMs: run.durationMs,
    onProgress: (progress) => tell(progressFraction(progress, run)),
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
