// The software encoders that plans use, each with a short encode that proves that it works.
import { BITMAP_CODECS, type FfmpegCapabilities, OPTIONAL_FILTERS, OPTIONAL_MUXERS } from "../command/capabilities.ts";

/** A trial: a source of ffmpeg's lavfi, and options that make a single frame of it. */
type Trial = readonly [source: string, ...options: string[]];

/** CIF, because H.263 has only five sizes including CIF, and some hardware rejects less than 145 pixels. */
export const VIDEO_TRIAL_SOURCE = "color=black:s=352x288:r=25";

const video = (pixelFormat: string): Trial => [VIDEO_TRIAL_SOURCE, "-frames:v", "1", "-pix_fmt", pixelFormat];
const audio = (sampleRateHz: number, layout: string): Trial => [
  `anullsrc=r=${sampleRateHz}:cl=${layout}`,
  ...["-frames:a", "1"],
];
const stereo = audio(48_000, "stereo");

/** By ffmpeg's name of the encoder. */
const SOFTWARE_TRIALS = {
  libx264: video("yuv420p"),
  libx265: video("yuv420p"),
  libvpx: video("yuv420p"),
  "libvpx-vp9": video("yuv420p"),
  libsvtav1: video("yuv420p"),
  "libaom-av1": video("yuv420p"),
  libtheora: video("yuv420p"),
  mpeg4: video("yuv420p"),
  mpeg2video: video("yuv420p"),
  /** JPEG has full range; ffmpeg 7 rejects other formats without `-strict`. */
  mjpeg: video("yuvj420p"),
  prores: video("yuv422p10le"),
  prores_ks: video("yuv422p10le"),
  /** DNxHD has only HD sizes, each with a few bitrates. */
  dnxhd: ["color=black:s=1280x720:r=25", "-frames:v", "1", "-pix_fmt", "yuv422p", "-b:v", "60M"],
  flv: video("yuv420p"),
  h263: video("yuv420p"),
  wmv2: video("yuv420p"),
  png: video("rgb24"),
  libwebp: video("yuv420p"),
  libwebp_anim: video("yuv420p"),
  gif: video("rgb8"),
  aac: stereo,
  ac3: stereo,
  mp2: stereo,
  libmp3lame: stereo,
  libvorbis: stereo,
  libopus: stereo,
  flac: stereo,
  pcm_s16le: stereo,
  pcm_u8: stereo,
  pcm_alaw: stereo,
  /** AMR narrowband is for telephony: 8 kHz, mono. */
  libopencore_amrnb: audio(8_000, "mono"),
  wmav2: stereo,
} as const satisfies Readonly<Record<string, Trial>>;

export type SoftwareEncoder = keyof typeof SOFTWARE_TRIALS;
export const SOFTWARE_ENCODERS: readonly SoftwareEncoder[] = Object.keys(SOFTWARE_TRIALS) as SoftwareEncoder[];

/** A node with everything that plans use, except hardware. Assumed while the node for the work is unknown. */
export const ALL_SOFTWARE: FfmpegCapabilities = {
  encoders: [...SOFTWARE_ENCODERS],
  filters: [...OPTIONAL_FILTERS],
  muxers: [...OPTIONAL_MUXERS],
  decoders: [...BITMAP_CODECS.values()],
  hardware: null,
};

/** ffmpeg's arguments to encode a single frame with a software encoder, without writing it. */
export const softwareTrial = (encoder: SoftwareEncoder): string[] => trialArguments(encoder, SOFTWARE_TRIALS[encoder]);

/** ffmpeg's arguments for a trial of an encoder. */
export const trialArguments = (encoder: string, [source, ...options]: Trial): string[] => [
  ...["-f", "lavfi", "-i", source, ...options],
  ...["-c", encoder, "-f", "null", "-"],
];
