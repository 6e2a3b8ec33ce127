// How many bits a picture gets: means where none was asked for, caps, and the options that say so to ffmpeg.
import type { VideoCodec } from "../../format/codecs.ts";
import type { Size } from "../filters/fit-frame.ts";

/** The default rate holds for H.264 at 480p (api-v2 §4: `1000k scaled up sensibly with its pixels`). */
const REFERENCE_KBPS = 1000;
const REFERENCE_PIXELS = 854 * 480;
/** Larger pictures need fewer bits per pixel: the presets' own rates from 480p to 1080p grow with this power or less. */
const PIXEL_POWER = 0.75;

/**
 * Bits for the picture that H.264 makes of one, by codec: about what equal VMAF costs (docs/encoding.md). ProRes and
 * DNxHD have the rates of their profiles.
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

/** A peak of half again over the mean lets hard scenes breathe and still streams over a line sized for the mean. */
const PEAK_FACTOR = 1.5;
/** Decoder buffer in seconds of the rate it goes with (of the mean, or of the cap): usual for progressive download. */
const BUFFER_SECONDS = 2;

export type BitrateCodec = keyof typeof BITS_OF_CODEC;

/**
 * Mean bitrate for a picture (pixels, without padding) for which none was asked, rounded to 50k. H.264's is never below
 * 1000k. Our decision.
 */
export function defaultBitrateKbps(codec: BitrateCodec, picture: Size): number {
  const scale = (picture.width * picture.height) / REFERENCE_PIXELS;
  const h264Kbps = Math.max(REFERENCE_KBPS, REFERENCE_KBPS * scale ** PIXEL_POWER);
  return Math.round((h264Kbps * BITS_OF_CODEC[codec]) / 50) * 50;
}

/**
 * How full the decoder's buffer is where a chunk begins that is not the first. Encoders begin with a full one, which each chunk
 * would spend anew: with 0.6 chunks come out as large as the whole film (docs/ultrafast.md).
 */
export const CHUNK_BUFFER_FILL = 0.6;

/**
 * A mean and its peaks: no cap of its own means half again over the mean. `share` is what a chunk has of the mean; its peaks
 * are the film's.
 */
export const meanArguments = (
  kbps: number,
  maxrateKbps: number | null,
  { maxBufferKbit = Infinity, share = 1 }: { maxBufferKbit?: number; share?: number } = {},
): string[] => [
  ...["-b:v", `${Math.round(Math.min(kbps * share, maxrateKbps ?? kbps * PEAK_FACTOR))}k`],
  ...(maxrateKbps === null
    ? peakArguments(Math.round(kbps * PEAK_FACTOR), kbps * BUFFER_SECONDS, maxBufferKbit)
    : capArguments(maxrateKbps, maxBufferKbit)),
];

/** Never more than `maxrateKbps` over two seconds. */
export const capArguments = (maxrateKbps: number, maxBufferKbit = Infinity): string[] =>
  peakArguments(maxrateKbps, maxrateKbps * BUFFER_SECONDS, maxBufferKbit);

const peakArguments = (maxrateKbps: number, bufferKbit: number, maxBufferKbit: number): string[] => [
  ...["-maxrate", `${maxrateKbps}k`, "-bufsize", `${Math.min(bufferKbit, maxBufferKbit)}k`],
];
