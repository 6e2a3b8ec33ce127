// Searches the largest rate factor that gives a score: chooses the next rate factor to try, and decides when to stop.

import type { RateFactorBounds } from "../encoders/rate-factors.ts";

/** A rate factor that was tried on the samples. */
export type Probe = {
  readonly rateFactor: number;
  /** Score of the samples (see `scoreOf`). */
  readonly score: number;
  /** Mean bitrate of the samples. */
  readonly kbps: number;
};

/**
 * Reasons for the end of a search. `met`: the score is within the tolerance. `best`, `worst`: the best rate factor does
 * not reach the target, or the worst rate factor exceeds it. `no_gain`: a better rate factor does not give a better
 * score, because of a maximum bitrate or because nothing can be better. `step`: no rate factor is nearer. `limit`:
 * enough was tried.
 */
export const STOP_REASONS = ["met", "best", "worst", "no_gain", "step", "limit"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export type NextProbe = { readonly rateFactor: number } | { readonly chosen: Probe; readonly stopped: StopReason };

/**
 * Largest accepted difference of a score from the target, below and above it. Other scores are worth another probe.
 */
export const BELOW = 0.5;
export const ABOVE = 0.8;
/** Maximum number of probes of a search; two or three are usual. */
export const MAX_PROBES = 4;

/** Bounds for the growth between two measured probes, as multiples of the growth of usual video. */
const GROWTH = { least: 0.25, most: 3 } as const;
/** Below this loss the model of scores does not hold: VMAF does not distinguish frames with a VMAF of 100. */
const LEAST_LOSS = 0.5;
/** A smaller growth of the score per step is no gain. */
const NO_GAIN = 0.08;
const FAR = 1.5;

/**
 * Returns the next rate factor to try, or the probe to use. `start` is the rate factor of usual video. The loss of a
 * score is its distance from 100. `growth` is the increase of the loss's logarithm for usual video when the rate factor
 * grows by 1.
 * That logarithm is nearly a line for all videos, where scores themselves bend. So the next rate factor is on a line
 * through the two nearest probes on either side of the target. Beyond all probes, it is on a line through the last two.
 */
export function nextProbe(
  tried: readonly Probe[],
  target: number,
  { bounds, start, growth }: { readonly bounds: RateFactorBounds; readonly start: number; readonly growth: number },
): NextProbe {
  const sorted = tried.toSorted((a, b) => a.rateFactor - b.rateFactor);
  const last = tried.at(-1);
  if (!last) return { rateFactor: onStep(start, bounds) };
  const met = sorted.filter(({ score }) => score >= target - BELOW && score <= target + ABOVE).at(-1);
  if (met) return { chosen: met, stopped: "met" };
  const enough = sorted.filter(({ score }) => score >= target - BELOW).at(-1);
  const tooLow = sorted.find(
    ({ score, rateFactor }) => score < target - BELOW && rateFactor > (enough?.rateFactor ?? -1),
  );
  const best = enough ?? sorted.reduce((most, probe) => (probe.score > most.score + 0.1 ? probe : most), last);
  const stop = (stopped: StopReason): NextProbe => ({ chosen: best, stopped });
  if (enough && !tooLow && enough.rateFactor >= bounds.worst) return stop("worst");
  if (!enough) {
    if (isWithoutGain(sorted)) return { chosen: cheapest(sorted), stopped: "no_gain" };
    if ((sorted[0]?.rateFactor ?? 0) <= bounds.best) return stop("best");
  }
  if (tried.length >= MAX_PROBES) return stop("limit");
  const next = onStep(guess(sorted, target, growth, enough ?? null, tooLow ?? null), bounds);
  const inside = clampBetween(next, enough, tooLow, bounds);
  return inside === null || tried.some(({ rateFactor }) => rateFactor === inside)
    ? stop("step")
    : { rateFactor: inside };
}

/** True if the two best rate factors have about the same score. */
function isWithoutGain([first, second]: readonly Probe[]): boolean {
  if (!first || !second || second.rateFactor - first.rateFactor < FAR) return false;
  return (first.score - second.score) / (second.rateFactor - first.rateFactor) < NO_GAIN;
}

/** The probe with the fewest bits among the probes whose score is as good as any. */
function cheapest(sorted: readonly Probe[]): Probe {
  const most = Math.max(...sorted.map(({ score }) => score));
  const chosen = sorted.filter(({ score }) => score >= most - FAR * NO_GAIN * 2).at(-1);
  if (!chosen) throw new Error("Nothing was tried");
  return chosen;
}

function guess(
  sorted: readonly Probe[],
  target: number,
  usualGrowth: number,
  enough: Probe | null,
  tooLow: Probe | null,
): number {
  // A little above the target: a score below it counts more than a score above it.
  const aim = lossOf(target + (ABOVE - BELOW) / 2);
  if (enough && tooLow) {
    const share = (aim - lossOf(enough.score)) / (lossOf(tooLow.score) - lossOf(enough.score));
    return enough.rateFactor + share * (tooLow.rateFactor - enough.rateFactor);
  }
  const from = enough ?? sorted[0];
  const other = enough ? sorted[sorted.indexOf(enough) - 1] : sorted[1];
  if (!from) throw new Error("Nothing was tried");
  const measured = other && (lossOf(other.score) - lossOf(from.score)) / (other.rateFactor - from.rateFactor);
  const [least, most] = [GROWTH.least * usualGrowth, GROWTH.most * usualGrowth];
  const growth = Math.min(most, Math.max(least, measured ?? usualGrowth));
  return from.rateFactor + (aim - lossOf(from.score)) / growth;
}

/** Logarithm of the difference between the score and 100. */
export const lossOf = (score: number): number => Math.log(Math.max(LEAST_LOSS, 100 - score));

const onStep = (rateFactor: number, { best, worst, step }: RateFactorBounds): number =>
  Math.min(worst, Math.max(best, Math.round(rateFactor / step) * step));

/** A value between the two probes beside the target; null if there is none. */
function clampBetween(
  value: number,
  enough: Probe | undefined,
  tooLow: Probe | undefined,
  { step }: RateFactorBounds,
): number | null {
  const least = enough ? enough.rateFactor + step : Number.NEGATIVE_INFINITY;
  const most = tooLow ? tooLow.rateFactor - step : Number.POSITIVE_INFINITY;
  return least > most ? null : Math.min(most, Math.max(least, value));
}
