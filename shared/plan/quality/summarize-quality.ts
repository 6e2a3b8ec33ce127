// Summarizes measured frames: the quality of a video as a whole, and in each second.
import type { MeasuredRendition } from "../../job/quality.ts";
import type { QualitySample } from "./read-samples.ts";

export type QualitySummary = Required<Pick<MeasuredRendition, "frames" | "vmaf" | "psnr" | "ssim" | "series">>;
type Statistics = QualitySummary["vmaf"];

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
    frames: samples.length,
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
    // As VMAF's: of the values plus 1, less 1. Low values count more than in the mean.
    harmonic_mean: rounded(1 / meanOf(values.map((value) => 1 / (value + 1))) - 1),
    percentile_1: rounded(percentile(sorted, 0.01)),
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

function seriesOf(samples: readonly QualitySample[], maxPoints: number): QualitySummary["series"] {
  const lastMs = samples.reduce((last, { timeMs }) => Math.max(last, timeMs), 0);
  const interval_seconds = Math.max(1, Math.ceil((lastMs + 1) / 1000 / maxPoints));
  const points = Math.floor(lastMs / 1000 / interval_seconds) + 1;
  const groups = Array.from({ length: points }, (): QualitySample[] => []);
  for (const sample of samples) groups[Math.floor(Math.max(0, sample.timeMs) / 1000 / interval_seconds)]?.push(sample);
  const means = (measure: Measure, digits: number): (number | null)[] =>
    groups.map((group) =>
      group.length === 0 ? null : Number(meanOf(group.map((sample) => sample[measure])).toFixed(digits)),
    );
  return { interval_seconds, vmaf: means("vmaf", 1), psnr: means("psnr", 1), ssim: means("ssim", 4) };
}
