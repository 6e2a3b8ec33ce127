// The report on the search for a requested VMAF.

import type { TargetMetadata } from "#shared/job/quality-target.ts";
import { usualRateFactor } from "#shared/plan/encoders/rate-factors.ts";
import type { PlannedSearch, SearchedVideo } from "#shared/plan/vmaf/plan-probes.ts";
import type { VmafSummary } from "#shared/plan/vmaf/score.ts";
import type { Probe } from "#shared/plan/vmaf/search.ts";

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
): TargetMetadata {
  const { width, height } = search.planned.frame;
  return {
    vmaf: targetOf(search),
    size: `${width}x${height}`,
    rate_factor: chosen?.rateFactor ?? usualRateFactor(search.encoder, targetOf(search)),
    ended: stopped,
    samples: chosen && {
      number: samples,
      seconds: Math.round(lengthMs) / 1000,
      frames: chosen.frames,
      mean: hundredths(chosen.summary.mean),
      harmonic_mean: hundredths(chosen.summary.harmonic_mean),
      percentile_1: hundredths(chosen.summary.percentile_1),
      kbps: Math.round(chosen.kbps),
    },
    tried: tried.map(({ rateFactor, score, kbps }) => ({
      rate_factor: rateFactor,
      score: hundredths(score),
      kbps: Math.round(kbps),
    })),
  };
}

const hundredths = (value: number): number => Math.round(value * 100) / 100;

/** Reports that nothing was searched. */
export function withoutSearch(video: SearchedVideo): TargetMetadata {
  return {
    vmaf: targetOf(video),
    size: "",
    rate_factor: 0,
    ended: "failed",
    samples: null,
    tried: [],
  };
}
