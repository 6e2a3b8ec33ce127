// The score of a video, calculated from the VMAF of its frames. A requested VMAF means this score.
import { percentile } from "../quality/summarize-quality.ts";

export type VmafSummary = {
  readonly mean: number;
  /** Netflix's recommendation for pooling: low frames count more than in the mean. */
  readonly harmonic_mean: number;
  /** 1 % of the frames are worse. */
  readonly percentile_1: number;
};

/**
 * Tolerance below the requested VMAF for the worst 1 % of the frames: half of the smallest difference that viewers
 * notice.
 */
export const WORST_FRAMES = 3;

/**
 * Score that is compared with the requested VMAF: the harmonic mean of all frames, or the first percentile plus three,
 * if that is lower. So a video whose worst frames are visibly worse than the rest gets more bits.
 */
export const scoreOf = ({ harmonic_mean, percentile_1 }: VmafSummary): number =>
  Math.min(harmonic_mean, percentile_1 + WORST_FRAMES);

/** Summarizes the VMAF of frames. At least one frame is required. */
export function summarizeVmaf(vmaf: readonly number[]): VmafSummary {
  const sorted = vmaf.toSorted((a, b) => a - b);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    mean: sum(sorted) / sorted.length,
    // Like libvmaf: a frame of 0 must not make everything 0.
    harmonic_mean: sorted.length / sum(sorted.map((value) => 1 / (value + 1))) - 1,
    percentile_1: percentile(sorted, 0.01),
  };
}
