// Searches the rate factors for requested VMAFs: encodes samples of the source, and measures them.
import { join } from "node:path";
import * as z from "zod";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import type { PlannedRun } from "#shared/plan/command/planned-run.ts";
import { type RateFactorEncoder, rateFactorBounds, usualRateFactor } from "#shared/plan/encoders/rate-factors.ts";
import { QUALITY_LOG } from "#shared/plan/quality/compare-video.ts";
import type { RunInputs } from "#shared/plan/runs/plan-run.ts";
import type { SourceTracks } from "#shared/plan/source/source-tracks.ts";
import {
  type PlannedSearch,
  planProbe,
  planSample,
  planSearch,
  type SearchedVideo,
} from "#shared/plan/vmaf/plan-probes.ts";
import { type KeyframeGroup, type SampleWindow, sampleWindows } from "#shared/plan/vmaf/sample-windows.ts";
import { scoreOf, summarizeVmaf } from "#shared/plan/vmaf/score.ts";
import { lossOf, nextProbe } from "#shared/plan/vmaf/search.ts";
import { openFile, readText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import type { MeasureDeps } from "./measure.ts";
import { type MeasuredRate, targetOf, targetReport, withoutSearch } from "./quality-report.ts";

export type SearchRequest = RunInputs & {
  readonly tracks: SourceTracks;
  readonly videos: readonly SearchedVideo[];
  /** The part of the source that they show, in ms from the start of the file. */
  readonly range: { readonly fromMs: number; readonly toMs: number };
  /** Keyframe groups of the source's video, in the order of time; left out: its samples are evenly spread. */
  readonly groups?: readonly KeyframeGroup[];
};

export type SearchDeps = Pick<MeasureDeps, "capabilities" | "log" | "signal"> & {
  /** The workspace. */
  readonly folder: string;
  /** Runs ffmpeg in a folder; `false`: it failed. */
  readonly run: (run: PlannedRun, cwd: string, reads: readonly string[]) => Promise<boolean>;
};

/**
 * Searches the rate factor of each video, in the order of the request. If nothing can be measured, the result has the
 * rate factor of usual video. Throws when the signal aborts.
 */
export async function searchRateFactors(request: SearchRequest, deps: SearchDeps): Promise<TargetMetadata[]> {
  const { tracks } = request;
  const searches = request.videos.flatMap((video, at) => {
    const planned = planSearch(video, `q${at}`, tracks, deps.capabilities);
    return planned.ok ? [planned.value] : [];
  });
  // A video that cannot be planned fails when it is encoded, with its reason.
  if (searches.length < request.videos.length) return request.videos.map(withoutSearch);
  const files = await RunFiles.create(deps.folder);
  const search = async (folder: string): Promise<TargetMetadata[]> => {
    const windows = sampleWindows(request.range, request.groups);
    const samples = await keepSamples(searches, windows, request, tracks, folder, deps);
    const reports: TargetMetadata[] = [];
    const moved: Moved = new Map();
    for (const search of searches)
      reports.push(await searchOne(search, { folder, samples, windows, tracks }, moved, deps));
    return reports;
  };
  try {
    return await files.inRun(search, () => false);
  } finally {
    await files.remove();
  }
}

/** Returns the numbers of the samples that have frames. */
async function keepSamples(
  searches: readonly PlannedSearch[],
  windows: readonly SampleWindow[],
  inputs: SearchRequest,
  tracks: SourceTracks,
  folder: string,
  deps: SearchDeps,
): Promise<number[]> {
  const sampled: number[] = [];
  const local = inputs.loopbackOptions ? [] : [inputs.source];
  for (const [sample, window] of windows.entries()) {
    const run = planSample(searches, sample, window, { inputs, tracks });
    const isMade = await deps.run(run, folder, [...local, ...(inputs.watermarks?.values() ?? [])]);
    deps.signal.throwIfAborted();
    if (isMade) sampled.push(sample);
  }
  return sampled;
}

type Samples = {
  readonly folder: string;
  readonly samples: readonly number[];
  readonly windows: readonly SampleWindow[];
  readonly tracks: SourceTracks;
};

/**
 * By encoder, the distance of the last rate factor that was found from the rate factor of usual video. Renditions of
 * the same video have similar distances, so the search for the next rendition starts there.
 */
type Moved = Map<RateFactorEncoder, number>;

async function searchOne(
  search: PlannedSearch,
  samples: Samples,
  moved: Moved,
  deps: SearchDeps,
): Promise<TargetMetadata> {
  const { encoder, video } = search;
  const target = targetOf(search);
  const bounds = rateFactorBounds(encoder);
  const usual = usualRateFactor(encoder, target);
  const growth = (lossOf(target - 3) - lossOf(target)) / Math.max(0.5, usualRateFactor(encoder, target - 3) - usual);
  const tried: MeasuredRate[] = [];
  const reportOf = (end: Omit<Parameters<typeof targetReport>[1], "samples" | "lengthMs">): TargetMetadata =>
    targetReport(search, { ...end, samples: samples.samples.length, lengthMs: lengthOf(samples) });
  for (;;) {
    const next = nextProbe(tried, target, { bounds, start: usual + (moved.get(encoder) ?? 0), growth });
    if ("chosen" in next) {
      const chosen = tried.find(({ rateFactor }) => rateFactor === next.chosen.rateFactor) ?? null;
      if (chosen && next.stopped === "met") moved.set(encoder, chosen.rateFactor - usual);
      return reportOf({ tried, chosen, stopped: next.stopped });
    }
    const measured = samples.samples.length > 0 ? await tryRateFactor(search, next.rateFactor, samples, deps) : null;
    if (!measured) {
      deps.log.warn("rate factor not found", { codec: video.codec, tried: tried.length });
      return reportOf({ tried, chosen: null, stopped: "failed" });
    }
    tried.push(measured);
  }
}

const Log = z.object({ frames: z.array(z.object({ frameNum: z.int(), metrics: z.object({ vmaf: z.number() }) })) });

/** Encodes the samples with a rate factor, and measures them. Null if this fails. */
async function tryRateFactor(
  search: PlannedSearch,
  rateFactor: number,
  taken: Samples,
  deps: SearchDeps,
): Promise<MeasuredRate | null> {
  const { folder, samples, tracks } = taken;
  const { capabilities, signal, run } = deps;
  const threads = Math.max(1, capabilities.cpus);
  const plan = planProbe(search, rateFactor, { folder, samples, threads, source: tracks, capabilities });
  const isMeasured = (await run(plan.encode, folder, [])) && (await run(plan.measure, folder, []));
  signal.throwIfAborted();
  if (!isMeasured) return null;
  // No run is in progress.
  const vmaf = vmafIn(await readText(join(folder, QUALITY_LOG), MAX_LOG_BYTES).catch(() => ""));
  if (vmaf.length === 0) return null;
  const summary = summarizeVmaf(vmaf);
  const size = await sizeOf(join(folder, plan.file));
  const lengthMs = lengthOf(taken);
  deps.log.debug("rate factor tried", { rateFactor, ...summary, frames: vmaf.length, sampledMs: lengthMs });
  return { rateFactor, score: scoreOf(summary), kbps: (size * 8) / lengthMs, summary, frames: vmaf.length };
}

/** Samples last a minute at most: some 2,000 measured frames of 300 bytes. */
const MAX_LOG_BYTES = 64e6;

async function sizeOf(path: string): Promise<number> {
  const file = await openFile(path);
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

/** The first frame of a video has no motion before it, so VMAF rates it lower. */
function vmafIn(log: string): number[] {
  const frames = Log.safeParse(parsed(log));
  return frames.success
    ? frames.data.frames.filter(({ frameNum }) => frameNum > 0).map(({ metrics }) => metrics.vmaf)
    : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const lengthOf = ({ samples, windows }: Samples): number =>
  Math.max(
    1,
    samples.reduce((sum, at) => sum + (windows[at]?.lengthMs ?? 0), 0),
  );
