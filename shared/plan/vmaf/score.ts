// What a requested VMAF means: the score of a video whose frames have these VMAFs.
import { percentile } from "../quality/summarize-quality.ts";

export type VmafSummary = {
  readonly mean: number;
  /** Netflix's recommendation for pooling: low frames count more than in the mean. */
  readonly harmonicMean: number;
  /** One of a hundred frames is worse. */
  readonly percentile1: number;
};

/** How much worse than the requested VMAF one of a hundred frames may be: half of what viewers just notice. */
export const WORST_FRAMES = 3;

/**
 * What is compared with the requested VMAF: the harmonic mean of all frames, and the first percentile plus three. So a
 * video whose worst frames are visibly worse than the rest gets more bits.
 */
export const scoreOf = ({ harmonicMean, percentile1 }: VmafSummary): number =>
  Math.min(harmonicMean, percentile1 + WORST_FRAMES);

/** Summarizes the VMAF of frames; there must be at least one. */
export function summarizeVmaf(vmaf: readonly number[]): VmafSummary {
  const sorted = vmaf.toSorted((a, b) => a - b);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    mean: sum(sorted) / sorted.length,
    // As libvmaf does it: a frame of 0 must not make everything 0.
    harmonicMean: sorted.length / sum(sorted.map((value) => 1 / (value + 1))) - 1,
    percentile1: percentile(sorted, 0.01),
  };
}
