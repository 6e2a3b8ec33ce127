// Measures the quality of an encoded video on this node: VMAF, PSNR and SSIM against its source.
import { AppError, type Failure } from "#shared/errors.ts";
import {
  MADE_TIMES,
  QUALITY_LOG,
  type QualityRequest,
  qualityFile,
  REFERENCE_TIMES,
} from "#shared/plan/quality/compare-video.ts";
import { planQualities, type QualitiesPlan } from "#shared/plan/quality/plan-quality.ts";
import { type QualitySample, readSamples } from "#shared/plan/quality/read-samples.ts";
import type { Viewing } from "#shared/plan/quality/viewing.ts";
import { err, ok, type Result } from "#shared/result.ts";
import { explainFailure } from "../ffmpeg/explain-failure.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import type { LoopbackNetwork } from "../ffmpeg/sandbox/loopback-network.ts";
import { readText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { type Burns, placeBurnFiles } from "../text/burn-in/burn-files.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";

export type MeasuredVideo = Viewing & {
  /** The part of the video's frames that is not padding. */
  readonly activeArea: Viewing["size"];
  /** In the order of time. */
  readonly samples: readonly QualitySample[];
  /** A single frame out of this many frames was measured. */
  readonly every: number;
  /** Frames per second of the video. */
  readonly fps: number;
};

export type MeasureRequest = Omit<QualityRequest, "capabilities" | "threads"> &
  Partial<Pick<QualityRequest, "capabilities">>;

export type MeasureDeps = Pick<TaskDeps, "ffmpeg" | "capabilities" | "log" | "signal"> & {
  /** An existing folder. The run gets its own folder in it. */
  readonly folder: string;
  /** The network in which a ranged source is served. */
  readonly network?: LoopbackNetwork | undefined;
  /** Captions and fonts for outputs with burnt-in captions. */
  readonly burns?: Burns | undefined;
};

/** A run without progress for this long is stuck. */
const STALL_MS = 300_000;

/**
 * Measures made files that start at the same position of a source, and decodes that source once, in the sandbox and
 * within the limits of all runs. Fails if the node's ffmpeg lacks libvmaf, or if ffmpeg fails. Otherwise each file has
 * its own result, in the order of the requests: a file fails if its frames cannot be paired with the source's frames.
 * Throws when the signal aborts.
 */
export async function measureQualities(
  requests: readonly MeasureRequest[],
  deps: MeasureDeps,
): Promise<Result<Result<MeasuredVideo>[]>> {
  const threads = Math.max(1, Math.ceil(deps.capabilities.cpus / Math.max(1, requests.length)));
  const planned = planQualities(requests.map((request) => ({ capabilities: deps.capabilities, ...request, threads })));
  if (!planned.ok) return planned;
  const files = await RunFiles.create(deps.folder);
  try {
    const failure = await files.inRun((cwd) => runPlan(planned.value, requests, cwd, deps));
    deps.signal.throwIfAborted();
    if (failure) return err(failure);
    const results: Result<MeasuredVideo>[] = [];
    for (const [at, { viewing, activeArea, every, fps }] of planned.value.views.entries()) {
      const samples = readSamples(await logsIn(files, at), fps);
      results.push(samples ? ok({ ...viewing, activeArea, samples, every, fps }) : err(NOT_COMPARABLE));
    }
    return ok(results);
  } finally {
    await files.remove();
  }
}

const NOT_COMPARABLE: Failure = {
  code: "encoding_failed",
  message: "The frames of the output cannot be paired with those of the input",
};

async function runPlan(
  { run }: QualitiesPlan,
  requests: readonly MeasureRequest[],
  cwd: string,
  { ffmpeg, folder, log, signal, network, burns }: MeasureDeps,
): Promise<Failure | null> {
  if (burns !== undefined) await placeBurnFiles(run.argv, burns, cwd);
  const startedAt = performance.now();
  const isLocal = run.network === "none";
  if (!isLocal && !network) throw new Error("A run reads its source over loopback, but no loopback network is open");
  const result = await runCommand({
    path: ffmpeg.path,
    argv: run.argv,
    cwd,
    reads: requests.flatMap(({ made, source, watermarks }) => [
      ...[made, ...(isLocal ? [source] : [])],
      ...(watermarks?.values() ?? []),
    ]),
    network: isLocal ? "none" : network,
    signal,
    stallMs: STALL_MS,
    durationMs: run.durationMs,
  });
  log.debug("quality measured", { durationMs: Math.round(performance.now() - startedAt), ok: result.ok });
  return result.ok ? null : explainFailure(result.stderrTail, result, folder);
}

/** Some 300 bytes for each frame: a day of video has 100 MB, with four measured frames a second. */
const MAX_LOG_BYTES = 256e6;

/** Throws AppError `encoding_failed` when the run has not written its files. */
async function logsIn(files: RunFiles, at: number): Promise<Parameters<typeof readSamples>[0]> {
  const read = (name: string): Promise<string> => readText(files.pathOf(qualityFile(name, at)), MAX_LOG_BYTES);
  try {
    const [log, madeTimes, referenceTimes] = await Promise.all([QUALITY_LOG, MADE_TIMES, REFERENCE_TIMES].map(read));
    return { log: log ?? "", madeTimes: madeTimes ?? "", referenceTimes: referenceTimes ?? "" };
  } catch (error) {
    throw new AppError("encoding_failed", "The measurement wrote no result", { cause: error });
  }
}
