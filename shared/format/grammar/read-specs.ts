// Parses the value of each spec. All functions throw FormatError if the text is not valid.

import {
  AUDIO_CHOICES,
  type AudioCodec,
  CHANNELS,
  PIXEL_FORMATS,
  type PixelFormat,
  PROFILES,
  type Profile,
  SAMPLE_RATES_HZ,
  VIDEO_CHOICES,
  type VideoCodec,
} from "../codecs.ts";
import {
  FRAME_RATES,
  MAX_AUDIO_KBPS,
  MAX_SIDE,
  MAX_VIDEO_KBPS,
  MAX_VMAF,
  MIN_VIDEO_KBPS,
  MIN_VMAF,
  PRESETS,
  type Resolution,
} from "../presets.ts";
import { AUDIO_SPECS, FormatError, type SpecName, spelled } from "./requested-specs.ts";
import { suggestToken, type Vocabulary } from "./suggestions.ts";

const SIZE = /^\d+x\d+$/;

/** Parses a preset, or `WxH`. 0 or an omitted number means automatic. */
export function readResolution(text: string): Resolution {
  const word = text.toLowerCase();
  const preset = PRESETS.get(word);
  if (preset) return preset;
  const match = /^(\d*)x(\d*)$/.exec(word);
  if (!match || word === "x") {
    const sizes = [...PRESETS.keys()];
    const allowed = `${sizes.join(", ")} or <width>x<height>, as in 640x360, 640x, x360`;
    throw unknown("resolution", text, allowed, {
      known: sizes,
      fits: (meant) => PRESETS.has(meant) || SIZE.test(meant),
    });
  }
  const [width = null, height = null] = match.slice(1).map((digits) => Number(digits) || null);
  if (Math.max(width ?? 0, height ?? 0) > MAX_SIDE) {
    throw new FormatError(
      "resolution",
      `The size \`${text}\` is too large; a side must have at most ${MAX_SIDE} pixels`,
    );
  }
  return { size: { width, height }, bitrateKbps: null };
}

/** Returns null to disable the video. */
export function readVideoCodec(text: string): VideoCodec | "copy" | null {
  if (/^(?:x|novideo)$/i.test(text)) return null;
  return oneOf("video_codec", text, VIDEO_CHOICES, "novideo");
}

/** Returns null to disable the audio. */
export function readAudioCodec(text: string): AudioCodec | "copy" | null {
  if (/^(?:x|noaudio)$/i.test(text)) return null;
  if (/^pcm$/i.test(text)) return "pcm-s16le";
  return oneOf("audio_codec", text, AUDIO_CHOICES, "noaudio");
}

/** Returns a fraction in ffmpeg's notation; null for the source's frame rate. */
export function readFps(text: string): string | null {
  const fraction = FRAME_RATES.get(text.replace(/fps$/i, ""));
  if (fraction === undefined) {
    const fits = (meant: string): boolean => FRAME_RATES.has(meant.replace(/fps$/, ""));
    throw unknown("fps", text, `${[...FRAME_RATES.keys()].join(", ")} + fps`, { known: [], fits });
  }
  return fraction;
}

/** Returns kbit/s. */
export const readVideoBitrate = (text: string): number =>
  kbps("video_bitrate", text, {
    min: MIN_VIDEO_KBPS,
    max: MAX_VIDEO_KBPS,
    hint: "; for a size, use 2160p or 3840x2160",
  });
export const readMaxrate = (text: string): number =>
  kbps("maxrate", text, { min: MIN_VIDEO_KBPS, max: MAX_VIDEO_KBPS });
/** Returns kbit/s. Each codec has its own limits. */
export const readAudioBitrate = (text: string): number => kbps("audio_bitrate", text, { min: 1, max: MAX_AUDIO_KBPS });

function kbps(
  spec: SpecName,
  text: string,
  { min, max, hint = "" }: { min: number; max: number; hint?: string },
): number {
  const value = Number(/^(\d+)k$/i.exec(text)?.[1]);
  if (value >= min && value <= max) return value;
  const fits = (meant: string): boolean => Number(/^(\d+)k$/.exec(meant)?.[1]) >= min && !/^\d+k$/i.test(text);
  throw unknown(spec, text, `${min}k to ${max}k${hint}`, { known: [], fits });
}

export function readSampleRate(text: string): number {
  const rate = SAMPLE_RATES_HZ.find((hz) => text.toLowerCase() === `${hz}hz`);
  if (rate === undefined) throw unknown("sample_rate", text, `${SAMPLE_RATES_HZ.join(", ")} + hz`);
  return rate;
}

export const readChannels = (text: string): (typeof CHANNELS)[number] => oneOf("audio_channel", text, CHANNELS);

/** Parses a step, 1 to 5 (best), or a VMAF: `vmaf93`. */
export function readQuality(text: string): { readonly quality: number } | { readonly vmaf: number } {
  const vmaf = Number(/^vmaf(\d\d)$/i.exec(text)?.[1]);
  if (vmaf >= MIN_VMAF && vmaf <= MAX_VMAF) return { vmaf };
  if (/^[1-5]$/.test(text)) return { quality: Number(text) };
  const fits = (meant: string): boolean => /^(?:[1-5]|vmaf\d\d)$/.test(meant);
  throw unknown("quality", text, `1, 2, 3, 4, 5, or vmaf${MIN_VMAF} to vmaf${MAX_VMAF}`, { known: [], fits });
}

/** Parses a step, 1 to 5 (best). */
export function readQualityStep(text: string): number {
  if (/^[1-5]$/.test(text)) return Number(text);
  throw unknown("quality", text, "1, 2, 3, 4, 5 (best)");
}

export const readPixelFormat = (text: string): PixelFormat => oneOf("pix_fmt", text, PIXEL_FORMATS);
export const readProfile = (text: string): Profile => oneOf("vprofile", text, PROFILES);

/** Returns ten times the level number. The valid levels depend on the codec. */
export function readLevel(text: string): number {
  if (!/^\d\d$/.test(text)) throw unknown("level", text, "10 to 51, ten times the level number");
  return Number(text);
}

/** Creates the reader of an option that is on or off. */
export const readSwitch =
  (spec: "2pass" | "frag" | "metadata") =>
  (text: string): boolean =>
    oneOf(spec, text, ["0", "1"]) === "1";

function oneOf<Choice extends string>(spec: SpecName, text: string, choices: readonly Choice[], more?: string): Choice {
  const word = text.toLowerCase();
  // Clients write names of codecs with `_` or with `-`.
  const chosen = choices.find((choice) => choice === word || choice === word.replaceAll("_", "-"));
  if (chosen === undefined)
    throw unknown(spec, text, [...choices, ...(more ? [more] : [])].join(", "), {
      known: choices.filter((choice) => choice.length > 1),
      fits: (meant) => choices.some((choice) => choice === meant),
    });
  return chosen;
}

const NOTHING: Vocabulary = { known: [], fits: () => false };

function unknown(spec: SpecName, text: string, allowed: string, vocabulary = NOTHING): FormatError {
  const meant = suggestToken(AUDIO_SPECS.some((audioSpec) => audioSpec === spec) ? "audio" : "video", text, vocabulary);
  const hint = meant === null ? "allowed" : `did you mean ${meant}? Allowed`;
  return new FormatError(spec, `${spelled(spec, text)} is not valid; ${hint} as \`${spec}\`: ${allowed}`);
}
