// Video bitrates: defaults, caps, and ffmpeg's options for them.
import { isVmafCodec, type VideoCodec } from "../../format/codecs.ts";
import type { RateTarget, VideoTrackSpec } from "../../format/format-spec.ts";
import { peakKbps } from "../../format/presets.ts";
import type { Size } from "../source/frame-size.ts";

/** Default bitrate of H.264 at 480p (api-v2 §4: `1000k scaled up sensibly with its pixels`). */
const REFERENCE_KBPS = 1000;
const REFERENCE_PIXELS = 854 * 480;
/**
 * Larger frames need fewer bits per pixel. From 480p to 1080p, the bitrates of the presets grow with this power or
 * less.
 */
const PIXEL_POWER = 0.75;

/**
 * Bitrate of each codec as a multiple of H.264's, for about equal VMAF (docs/encoding.md). The profiles of ProRes and
 * DNxHD define their bitrates.
 */
const BITS_OF_CODEC: Readonly<Record<Exclude<VideoCodec, "prores" | "prores-ks" | "dnxhd">, number>> = {
  h264: 1,
  hevc: 0.7,
  av1: 0.65,
  vp9: 0.75,
  vp8: 1.3,
  mpeg4: 1.7,
  wmv2: 2,
  flv: 1.9,
  h263: 1.9,
  theora: 1.5,
  mpeg2video: 2,
  mjpeg: 4,
};

/** Size of the decoder buffer in seconds at the cap, or at the mean without a cap. Usual for progressive download. */
const BUFFER_SECONDS = 2;

export type BitrateCodec = keyof typeof BITS_OF_CODEC;
export const isBitrateCodec = (codec: string): codec is BitrateCodec => Object.hasOwn(BITS_OF_CODEC, codec);

/**
 * Mean bitrate for an active area (in pixels) if none is requested, rounded to 50k. H.264 never gets less than 1000k.
 * Our decision.
 */
export function defaultBitrateKbps(codec: BitrateCodec, activeArea: Size): number {
  const scale = (activeArea.width * activeArea.height) / REFERENCE_PIXELS;
  const h264Kbps = Math.max(REFERENCE_KBPS, REFERENCE_KBPS * scale ** PIXEL_POWER);
  return Math.round((h264Kbps * BITS_OF_CODEC[codec]) / 50) * 50;
}

/** Quality of videos without a requested rate (docs/encoding.md has the measurement). */
const AUTOMATIC_QUALITY = 4;

/**
 * The rate to encode with. Without a requested rate, an encoder with a rate factor gets a constant quality under the
 * peaks of the default bitrate: easy videos take fewer bits, and no scene pays for others. Two passes hit a mean.
 */
export function encodedRate(
  { codec, rate, twoPass }: Pick<VideoTrackSpec, "codec" | "rate" | "twoPass">,
  activeArea: Size,
): RateTarget {
  if (!("bitrateKbps" in rate) || rate.bitrateKbps !== null || twoPass || !isVmafCodec(codec)) return rate;
  const maxrateKbps = rate.maxrateKbps ?? peakKbps(defaultBitrateKbps(codec, activeArea));
  return { quality: AUTOMATIC_QUALITY, maxrateKbps };
}

/**
 * Fill level of the decoder's buffer at the start of each chunk except the first. Encoders assume a full buffer, which
 * every chunk would spend again. With 0.6, all chunks together are as large as the video encoded in one piece
 * (docs/ultrafast.md).
 */
export const CHUNK_BUFFER_FILL = 0.6;

/**
 * Options for a mean bitrate with peaks up to the cap, or up to 1.5 times the mean without a cap. `share`: a chunk's
 * mean as a multiple of the video's mean. A chunk has the peaks of the video.
 */
export const meanArguments = (
  kbps: number,
  maxrateKbps: number | null,
  { maxBufferKbit = Infinity, share = 1 }: { maxBufferKbit?: number; share?: number } = {},
): string[] => [
  ...["-b:v", `${Math.round(Math.min(kbps * share, maxrateKbps ?? peakKbps(kbps)))}k`],
  ...(maxrateKbps === null
    ? peakArguments(peakKbps(kbps), kbps * BUFFER_SECONDS, maxBufferKbit)
    : capArguments(maxrateKbps, maxBufferKbit)),
];

/** Options for a cap: at most `maxrateKbps` over two seconds. */
export const capArguments = (maxrateKbps: number, maxBufferKbit = Infinity): string[] =>
  peakArguments(maxrateKbps, maxrateKbps * BUFFER_SECONDS, maxBufferKbit);

const peakArguments = (maxrateKbps: number, bufferKbit: number, maxBufferKbit: number): string[] => [
  ...["-maxrate", `${maxrateKbps}k`, "-bufsize", `${Math.min(bufferKbit, maxBufferKbit)}k`],
];
