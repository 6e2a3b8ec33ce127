// The report on the search for a requested VMAF.
import { usualRateFactor } from "#shared/plan/encoders/rate-factors.ts";
import type { PlannedSearch, SearchedVideo } from "#shared/plan/vmaf/plan-probes.ts";
import type { VmafSummary } from "#shared/plan/vmaf/score.ts";
import type { Probe } from "#shared/plan/vmaf/search.ts";
import type { TargetReport } from "#shared/protocol/target.ts";

/** A rate factor that was tried, and its measured quality. */
export type Measured = Probe & { readonly summary: VmafSummary; readonly frames: number };

type SearchEnd = {
  readonly tried: readonly Measured[];
  /** Null if nothing could be measured: the rate factor of usual video is used. */
  readonly chosen: Measured | null;
  readonly stopped: string;
  /** The number of samples, and their total length. */
  readonly samples: number;
  readonly lengthMs: number;
};

/** The requested VMAF; 0 if the request has none. */
export const targetOf = ({ video: { rate } }: SearchedVideo): number => ("vmaf" in rate ? rate.vmaf : 0);

/** Reports how a search ended. */
export function targetReport(
  search: PlannedSearch,
  { tried, chosen, stopped, samples, lengthMs }: SearchEnd,
): TargetReport {
  const { width, height } = search.planned.frame;
  return {
    vmaf: targetOf(search),
    size: `${width}x${height}`,
    rateFactor: chosen?.rateFactor ?? usualRateFactor(search.encoder, targetOf(search)),
    stopped,
    measured: chosen && { ...rounded(chosen.summary), kbps: Math.round(chosen.kbps), frames: chosen.frames },
    samples,
    sampledMs: Math.round(lengthMs),
    tried: tried.map(({ rateFactor, score, kbps }) => ({
      rateFactor,
      score: hundredths(score),
      kbps: Math.round(kbps),
    })),
  };
}

const hundredths = (value: number): number => Math.round(value * 100) / 100;
const rounded = ({ mean, harmonicMean, percentile1 }: VmafSummary): VmafSummary => ({
  mean: hundredths(mean),
  harmonicMean: hundredths(harmonicMean),
  percentile1: hundredths(percentile1),
});

/** Reports that nothing was searched. */
export function withoutSearch(video: SearchedVideo): TargetReport {
  return {
    vmaf: targetOf(video),
    size: "",
    rateFactor: 0,
    stopped: "failed",
    measured: null,
    samples: 0,
    sampledMs: 0,
    tried: [],
  };
}
