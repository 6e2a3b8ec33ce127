// Summarizes measured frames: the quality of a video as a whole, and in each second.
import type { QualitySample } from "./read-samples.ts";

/** Statistics of a measure over the samples. */
export type Statistics = {
  readonly mean: number;
  /** VMAF's harmonic mean: of the values plus 1, less 1. Low values count more than in the mean. */
  readonly harmonicMean: number;
  /** The lowest 1 % of the samples are below this value. */
  readonly percentile1: number;
  readonly min: number;
};

export type QualitySummary = {
  /** Number of measured frames. */
  readonly samples: number;
  readonly vmaf: Statistics;
  /** In dB. */
  readonly psnr: Statistics;
  readonly ssim: Statistics;
  readonly series: QualitySeries;
};

/** Means over intervals of equal length; null for an interval without samples. */
export type QualitySeries = {
  readonly intervalSeconds: number;
  readonly vmaf: readonly (number | null)[];
  readonly psnr: readonly (number | null)[];
  readonly ssim: readonly (number | null)[];
};

/**
 * Summarizes the samples of a video, in any order. The series has a value for each second, or for a multiple of seconds
 * if more than `maxPoints` seconds were measured. Throws without samples.
 */
export function summarizeQuality(samples: readonly QualitySample[], maxPoints = 1800): QualitySummary {
  if (samples.length === 0) throw new Error("Nothing was measured");
  const of = (measure: Measure, digits: number): Statistics =>
    statistics(
      samples.map((sample) => sample[measure]),
      digits,
    );
  return {
    samples: samples.length,
    vmaf: of("vmaf", 2),
    psnr: of("psnr", 2),
    ssim: of("ssim", 4),
    series: seriesOf(samples, maxPoints),
  };
}

type Measure = "vmaf" | "psnr" | "ssim";

function statistics(values: readonly number[], digits: number): Statistics {
  const sorted = values.toSorted((a, b) => a - b);
  const rounded = (value: number): number => Number(value.toFixed(digits));
  return {
    mean: rounded(meanOf(values)),
    harmonicMean: rounded(1 / meanOf(values.map((value) => 1 / (value + 1))) - 1),
    percentile1: rounded(percentile(sorted, 0.01)),
    min: rounded(sorted[0] ?? 0),
  };
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Interpolates linearly between the two nearest ranks. `sorted` is ascending and not empty. */
export function percentile(sorted: readonly number[], share: number): number {
  const rank = share * (sorted.length - 1);
  const below = sorted[Math.floor(rank)] ?? 0;
  const above = sorted[Math.ceil(rank)] ?? below;
  return below + (above - below) * (rank - Math.floor(rank));
}

function seriesOf(samples: readonly QualitySample[], maxPoints: number): QualitySeries {
  const lastMs = samples.reduce((last, { timeMs }) => Math.max(last, timeMs), 0);
  const intervalSeconds = Math.max(1, Math.ceil((lastMs + 1) / 1000 / maxPoints));
  const points = Math.floor(lastMs / 1000 / intervalSeconds) + 1;
  const groups = Array.from({ length: points }, (): QualitySample[] => []);
  for (const sample of samples) groups[Math.floor(Math.max(0, sample.timeMs) / 1000 / intervalSeconds)]?.push(sample);
  const means = (measure: Measure, digits: number): (number | null)[] =>
    groups.map((group) =>
      group.length === 0 ? null : Number(meanOf(group.map((sample) => sample[measure])).toFixed(digits)),
    );
  return { intervalSeconds, vmaf: means("vmaf", 1), psnr: means("psnr", 1), ssim: means("ssim", 4) };
}
