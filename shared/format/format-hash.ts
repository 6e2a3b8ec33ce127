// The `format` hash of an output: a field for each spec of a format (api-v2 §4).
import * as z from "zod";
import { strictObject } from "../strict-object.ts";
import { AUDIO_CHOICES, PIXEL_FORMATS, PROFILES, SAMPLE_RATES_HZ, VIDEO_CHOICES } from "./codecs.ts";
import { AUDIO_SPECS, type RequestedSpecs, type SpecName, VIDEO_SPECS } from "./grammar/requested-specs.ts";
import { FRAME_RATES, MAX_VIDEO_KBPS, MAX_VMAF, MIN_VIDEO_KBPS, MIN_VMAF, PRESETS } from "./presets.ts";

const text = z.string("must be a string").max(40, "must have at most 40 characters").optional();
const numberOrText = z
  .union([z.number(), z.string().max(40)], "must be a number, or a string of at most 40 characters")
  .optional();
const flag = z.boolean("must be true or false").optional();

/** Numbers may have a unit, and may be strings. */
export const FormatHash = strictObject({
  resolution: text.describe(
    `${[...PRESETS.keys()].join(", ")} or <width>x<height> in pixels, where 0 or no number means automatic`,
  ),
  video_codec: text.describe(`${VIDEO_CHOICES.join(", ")}, novideo`),
  video_bitrate: numberOrText.describe(`kbit/s, ${MIN_VIDEO_KBPS} to ${MAX_VIDEO_KBPS}: 1500k or 1500`),
  fps: numberOrText.describe(
    `Frames per second: ${[...FRAME_RATES.keys()].join(", ")}; 0 is the frame rate of the source`,
  ),
  audio_codec: text.describe(`${AUDIO_CHOICES.join(", ")}, noaudio`),
  audio_bitrate: numberOrText.describe("kbit/s, up to 512: 128k or 128"),
  sample_rate: numberOrText.describe(`Hz: ${SAMPLE_RATES_HZ.join(", ")}`),
  audio_channel: numberOrText.describe("mono (or 1), stereo (or 2), multi (all channels of the source)"),
  quality: numberOrText.describe(
    `1 to 5 (best), or a VMAF: vmaf${MIN_VMAF} to vmaf${MAX_VMAF}; replaces the bitrate. Images: 1 to 5`,
  ),
  maxrate: numberOrText.describe("Maximum bitrate in kbit/s, with a quality or a bitrate: 3000k or 3000"),
  pix_fmt: text.describe(`Pixel format: ${PIXEL_FORMATS.join(", ")}`),
  "2pass": flag.describe("Encode in two passes; not allowed with quality"),
  vprofile: text.describe(`Profile of h264 (hevc supports only main): ${PROFILES.join(", ")}`),
  level: numberOrText.describe("Level of h264 or hevc times ten: 10 to 51"),
  frag: flag.describe("Write a fragmented file: mp4, mov, 3gp, m4a"),
});
export type FormatHash = z.infer<typeof FormatHash>;

const FIELDS = [...VIDEO_SPECS, ...AUDIO_SPECS, "frag"] as const;

/** Returns the fields of the hash as specs, in the notation of format text. */
export function specsOfHash(hash: FormatHash): RequestedSpecs {
  const requested = new Map<SpecName, string>();
  for (const field of FIELDS) {
    const value = hash[field];
    if (value !== undefined) requested.set(field, asText(field, value));
  }
  return requested;
}

const UNITS: ReadonlyMap<SpecName, string> = new Map([
  ["video_bitrate", "k"],
  ["audio_bitrate", "k"],
  ["maxrate", "k"],
  ["fps", "fps"],
  ["sample_rate", "hz"],
]);
const CHANNEL_COUNTS: ReadonlyMap<string, string> = new Map([
  ["1", "mono"],
  ["2", "stereo"],
]);

function asText(field: SpecName, value: string | number | boolean): string {
  const text = (typeof value === "boolean" ? String(Number(value)) : String(value)).trim();
  if (field === "audio_channel") return CHANNEL_COUNTS.get(text) ?? text;
  return /^[\d.]+$/.test(text) ? `${text}${UNITS.get(field) ?? ""}` : text;
}
