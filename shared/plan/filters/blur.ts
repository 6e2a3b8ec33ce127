// How much a blurred picture is blurred.
import type { Size } from "./fit-frame.ts";

/**
 * `blur` 1–5 → the Gaussian's standard deviation, as a share of the picture's shorter side: from soft, by way of faces that
 * cannot be told apart (about 3), to mere colours. Our decision.
 */
const SIGMA_SHARE: Readonly<Record<number, number>> = { 1: 0.005, 2: 0.01, 3: 0.02, 4: 0.04, 5: 0.08 };

/** Blurs a picture of this size by the step; none for null. */
export function blurFilters(step: number | null, { width, height }: Size): string[] {
  const share = step === null ? undefined : SIGMA_SHARE[step];
  return share === undefined ? [] : [`gblur=sigma=${Number((Math.min(width, height) * share).toFixed(2))}`];
}
