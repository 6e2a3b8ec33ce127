// What each encoder is told: preset, quality steps, rates.
import { AppError } from "../errors.ts";
import type { RateTarget } from "../format/format-spec.ts";
import type { Size } from "./fit-frame.ts";

/** Each faster preset costs bits at equal quality; `medium` is x264's own balance. */
export const X264_PRESET = "medium";

/**
 * `quality` 1–5 → x264's constant rate factor.
 *
 * Measured at 720p with preset medium (VMAF): 18 → 96, 20 → 95, 23 → 92, 26 → 88, 29 → 83, 32 → 76. So 5 is beyond what an
 * eye tells from the source and 1 is plainly small; 4.3 steps of CRF are 40 % of the bytes, which is about one step here.
 */
const X264_CRF: Readonly<Record<number, number>> = { 5: 18, 4: 21, 3: 24, 2: 28, 1: 32 };

/** The default rate holds for 480p (api-v2 §4: `1000k scaled up sensibly with its pixels`). */
const REFERENCE_KBPS = 1000;
const REFERENCE_PIXELS = 854 * 480;
/** Larger pictures need fewer bits per pixel: the presets' own rates from 480p to 1080p grow with this power or less. */
const PIXEL_POWER = 0.75;

/** A peak of half again over the mean lets hard scenes breathe and still streams over a line sized for the mean. */
const PEAK_FACTOR = 1.5;
/** Decoder buffer in seconds of the rate it goes with (of the mean, or of the cap): usual for progressive download. */
const BUFFER_SECONDS = 2;

/** Mean bitrate for a picture for which none was asked; never below 1000k, rounded to 50k. Our decision. */
export function defaultBitrateKbps(picture: Size): number {
  const scale = (picture.width * picture.height) / REFERENCE_PIXELS;
  return Math.max(REFERENCE_KBPS, Math.round((REFERENCE_KBPS * scale ** PIXEL_POWER) / 50) * 50);
}

/** ffmpeg's rate options for libx264; `picture` (pixels, without padding) decides when no rate was asked for. */
export function x264RateArguments(rate: RateTarget, picture: Size): string[] {
  if ("quality" in rate) {
    const cap = rate.maxrateKbps === null ? [] : peakArguments(rate.maxrateKbps, rate.maxrateKbps);
    return ["-crf", String(crf(rate.quality)), ...cap];
  }
  const kbps = rate.bitrateKbps ?? defaultBitrateKbps(picture);
  return ["-b:v", `${kbps}k`, ...peakArguments(Math.round(kbps * PEAK_FACTOR), kbps)];
}

function peakArguments(maxrateKbps: number, bufferedKbps: number): string[] {
  return ["-maxrate", `${maxrateKbps}k`, "-bufsize", `${bufferedKbps * BUFFER_SECONDS}k`];
}

function crf(quality: number): number {
  const value = X264_CRF[quality];
  if (value === undefined) throw new AppError("internal_error", `There is no quality step ${quality}`);
  return value;
}
