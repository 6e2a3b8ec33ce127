// The rate factors of encoders: start and bounds of a search for a VMAF.
import { qualityStep } from "./quality-steps.ts";

/** Encoders with a rate factor, for which a VMAF may be requested. A smaller factor is better. */
export const RATE_FACTOR_ENCODERS = ["libx264", "libx265", "libvpx-vp9", "libsvtav1", "libaom-av1"] as const;
export type RateFactorEncoder = (typeof RATE_FACTOR_ENCODERS)[number];

export const hasRateFactor = (encoder: string): encoder is RateFactorEncoder =>
  RATE_FACTOR_ENCODERS.some((name) => name === encoder);

/** Approximate VMAF of the quality steps 1 to 5 (quality-steps.ts). */
const VMAF_OF_STEPS = [76, 85, 91, 94, 96] as const;

/** The best and the worst rate factor to try, and the smallest difference between two rate factors. */
export type RateFactorBounds = { readonly best: number; readonly worst: number; readonly step: number };

/** Encoders for which ffmpeg accepts whole numbers only. */
const WHOLE: ReadonlySet<RateFactorEncoder> = new Set(["libvpx-vp9", "libsvtav1", "libaom-av1"]);

/**
 * Bounds beyond the quality steps 5 and 1. With a better rate factor, files grow and nobody sees a difference. With a
 * worse rate factor, VMAF rates flat areas, text and animation better than viewers do.
 */
export function rateFactorBounds(encoder: RateFactorEncoder): RateFactorBounds {
  const [best, worst] = [qualityStep(encoder, 5), qualityStep(encoder, 1)];
  const range = worst - best;
  return {
    best: Math.round(best - range / 2),
    worst: Math.round(worst + range / 8),
    step: WHOLE.has(encoder) ? 1 : 0.25,
  };
}

/** Rate factor that gives this VMAF for usual video, on a line through the quality steps. */
export function usualRateFactor(encoder: RateFactorEncoder, vmaf: number): number {
  const { best, worst, step } = rateFactorBounds(encoder);
  const at = Math.max(
    1,
    VMAF_OF_STEPS.findIndex((value, index) => vmaf <= value || index === VMAF_OF_STEPS.length - 1),
  );
  const [low, high] = [VMAF_OF_STEPS[at - 1] ?? 0, VMAF_OF_STEPS[at] ?? 100];
  const [from, to] = [qualityStep(encoder, at), qualityStep(encoder, at + 1)];
  const factor = from + ((vmaf - low) / (high - low)) * (to - from);
  return Math.min(worst, Math.max(best, Math.round(factor / step) * step));
}
