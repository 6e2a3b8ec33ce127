// The report on measured video tracks.
import type { MeasuredRendition, QualityReport } from "#shared/job/quality.ts";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import { usualRateFactor } from "#shared/plan/encoders/rate-factors.ts";
import type { QualitySample } from "#shared/plan/quality/read-samples.ts";
import { summarizeQuality } from "#shared/plan/quality/summarize-quality.ts";
import type { Viewing } from "#shared/plan/quality/viewing.ts";
import type { PlannedSearch, SearchedVideo } from "#shared/plan/vmaf/plan-probes.ts";
import type { VmafSummary } from "#shared/plan/vmaf/score.ts";
import type { Probe } from "#shared/plan/vmaf/search.ts";

/** A measured video track, or the reason why it could not be measured. */
export type TrackQuality = { readonly track: string } & (
  | { readonly measured: Measured }
  | { readonly failure: string }
);

export type Measured = {
  /** The VMAF model. */
  readonly model: string;
  /** The part of its frames that is not padding, and the size at which that part was shown. In pixels. */
  readonly size: Viewing["size"];
  readonly shown: Viewing["size"];
  readonly every: number;
  readonly samples: readonly QualitySample[];
};

/** Maximum number of values in the series of an output and of a rendition. They are stored with the job. */
const MAX_POINTS = { output: 1200, rendition: 60 };

/** Reports on the tracks of an output. If several tracks failed, the first failure is reported. */
export function qualityReport(tracks: readonly TrackQuality[]): QualityReport {
  const maxPoints = Math.max(MAX_POINTS.rendition, Math.floor(MAX_POINTS.output / Math.max(1, tracks.length)));
  const failures = tracks.flatMap((track) => ("failure" in track ? [track.failure] : []));
  const renditions = tracks.flatMap((track): MeasuredRendition[] => {
    if (!("measured" in track) || track.measured.samples.length === 0) return [];
    const { samples, size, shown, model, every } = track.measured;
    const sizes = { ...size, shown_width: shown.width, shown_height: shown.height };
    return [{ track: track.track, ...sizes, model, every, ...summarizeQuality(samples, maxPoints) }];
  });
  return { renditions, ...(failures[0] === undefined ? {} : { error: lineOf(failures[0]) }) };
}

/** Formats a message for the protocol: a message can quote ffmpeg, and ffmpeg can quote the source. */
export const lineOf = (message: string): string =>
  message
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .slice(0, 300)
    .toWellFormed();

// The report on the search for a requested VMAF.

/** A rate factor that was tried, and its measured quality. */
export type MeasuredRate = Probe & { readonly summary: VmafSummary; readonly frames: number };

type SearchEnd = {
  readonly tried: readonly MeasuredRate[];
  /** Null if nothing could be measured: the rate factor of usual video is used. */
  readonly chosen: MeasuredRate | null;
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
  return { vmaf: targetOf(video), size: "", rate_factor: 0, ended: "failed", samples: null, tried: [] };
}
