// The profiles of ProRes and DNxHD, codecs for editing. The profiles define the bitrates.
import { AppError } from "../../errors.ts";
import type { RateTarget } from "../../format/format-spec.ts";
import type { Size } from "../source/frame-size.ts";

/** ffmpeg's options for a profile, and its pixel format. */
export type MasteringProfile = { readonly argv: readonly string[]; readonly pixelFormat: string };

/** The default: the standard profile of both families. */
const DEFAULT_QUALITY = 3;

const proRes = (profile: number, pixelFormat = "yuv422p10le"): MasteringProfile => ({
  argv: ["-profile:v", String(profile)],
  pixelFormat,
});
/** 422 Proxy, 422 LT, 422, 422 HQ, and 4444 for sources without chroma subsampling (Apple's white paper). */
const PRORES: Readonly<Record<number, MasteringProfile>> = {
  1: proRes(0),
  2: proRes(1),
  3: proRes(2),
  4: proRes(3),
  5: proRes(4, "yuv444p10le"),
};
/** The only profile with an alpha channel. */
const PRORES_ALPHA = proRes(4, "yuva444p10le");

/** The ProRes profile of an output. */
export function proResProfile(rate: RateTarget, alpha: boolean): MasteringProfile {
  return alpha ? PRORES_ALPHA : stepOf(PRORES, qualityOf(rate));
}

const dnxhr = (name: string, pixelFormat: string): MasteringProfile => ({
  argv: ["-profile:v", `dnxhr_${name}`],
  pixelFormat,
});
/** Low bandwidth (for two steps), standard quality, high quality, and high quality in 10 bits. */
const DNXHR: Readonly<Record<number, MasteringProfile>> = {
  1: dnxhr("lb", "yuv422p"),
  2: dnxhr("lb", "yuv422p"),
  3: dnxhr("sq", "yuv422p"),
  4: dnxhr("hq", "yuv422p"),
  5: dnxhr("hqx", "yuv422p10le"),
};

/** Mbit/s of low bandwidth, standard and high quality, by size and frame rate (SMPTE ST 2019-1; 8 bits). */
const DNXHD_MBPS: Readonly<Record<string, Readonly<Record<number, readonly [number, number, number]>>>> = {
  "1920x1080": { 24: [36, 115, 175], 25: [36, 120, 185], 30: [45, 145, 220], 50: [75, 240, 365], 60: [90, 290, 440] },
  "1280x720": { 24: [60, 60, 90], 25: [60, 60, 90], 30: [75, 75, 110], 50: [120, 120, 180], 60: [145, 145, 220] },
};
const DNXHD_STEP: Readonly<Record<number, 0 | 1 | 2>> = { 1: 0, 2: 0, 3: 1, 4: 2 };
/** Bitrates far below all bitrates of DNxHD come from the names of presets, and do not describe DNxHD. */
const LEAST_DNXHD_KBPS = 20_000;

/**
 * The DNxHD or DNxHR profile of an output. DNxHD is for the two HD sizes at their usual rates. DNxHR is for all other
 * sizes and for 10 bits. A bitrate selects the nearest DNxHD profile; DNxHR depends on the quality only.
 */
export function dnxProfile(rate: RateTarget, eightBits: boolean, frame: Size, fps: number): MasteringProfile {
  const quality = Math.min(qualityOf(rate), eightBits ? 4 : 5);
  const legal = DNXHD_MBPS[`${frame.width}x${frame.height}`]?.[nominalRate(fps)];
  const step = DNXHD_STEP[quality];
  if (!legal || step === undefined) return stepOf(DNXHR, quality);
  const requestedKbps = "bitrateKbps" in rate ? (rate.bitrateKbps ?? 0) : 0;
  const mbps = requestedKbps < LEAST_DNXHD_KBPS ? legal[step] : nearest(legal, requestedKbps / 1000);
  return { argv: ["-b:v", `${mbps}M`], pixelFormat: "yuv422p" };
}

/** 30 for 29.97 and 30; 0 for rates that are not near a whole number. */
const nominalRate = (fps: number): number => (Math.abs(fps - Math.round(fps)) < 0.07 ? Math.round(fps) : 0);

const nearest = (values: readonly number[], wanted: number): number =>
  values.reduce((best, value) => (Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best), Infinity);

const qualityOf = (rate: RateTarget): number => ("quality" in rate ? rate.quality : DEFAULT_QUALITY);

function stepOf(profiles: Readonly<Record<number, MasteringProfile>>, quality: number): MasteringProfile {
  const profile = profiles[quality];
  if (!profile) throw new AppError("internal_error", `There is no quality step ${quality}`);
  return profile;
}
