// The encoders that plans use, each with the shortest encode that proves that it works.
import { chainText } from "../command/filter-text.ts";
import {
  deviceArguments,
  type HardwareCodec,
  type HardwareDevice,
  hardwareEncoder,
  uploadFilters,
} from "./hardware.ts";

/** What to encode: a lavfi source, and options that make one frame of it. */
type Trial = readonly [source: string, ...options: string[]];

/** CIF: H.263 knows five sizes only, of which this is one, and some hardware refuses what is smaller than 145 pixels. */
const PICTURE_SOURCE = "color=black:s=352x288:r=25";

const picture = (pixelFormat: string): Trial => [PICTURE_SOURCE, "-frames:v", "1", "-pix_fmt", pixelFormat];
const sound = (sampleRateHz: number, layout: string): Trial => [
  `anullsrc=r=${sampleRateHz}:cl=${layout}`,
  ...["-frames:a", "1"],
];
const stereo = sound(48_000, "stereo");

/** By ffmpeg's name. Where a codec has several, the better one comes first. */
const SOFTWARE_TRIALS = {
  libx264: picture("yuv420p"),
  libx265: picture("yuv420p"),
  libvpx: picture("yuv420p"),
  "libvpx-vp9": picture("yuv420p"),
  libsvtav1: picture("yuv420p"),
  "libaom-av1": picture("yuv420p"),
  libtheora: picture("yuv420p"),
  mpeg4: picture("yuv420p"),
  mpeg2video: picture("yuv420p"),
  /** JPEG's samples are full range; ffmpeg 7 refuses others without `-strict`. */
  mjpeg: picture("yuvj420p"),
  prores: picture("yuv422p10le"),
  prores_ks: picture("yuv422p10le"),
  /** DNxHD knows HD sizes only, each with a few bitrates. */
  dnxhd: ["color=black:s=1280x720:r=25", "-frames:v", "1", "-pix_fmt", "yuv422p", "-b:v", "60M"],
  flv: picture("yuv420p"),
  h263: picture("yuv420p"),
  wmv2: picture("yuv420p"),
  png: picture("rgb24"),
  libwebp: picture("yuv420p"),
  libwebp_anim: picture("yuv420p"),
  gif: picture("rgb8"),
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
  /** AMR narrowband is telephony: 8 kHz, one channel. */
  libopencore_amrnb: sound(8_000, "mono"),
  wmav2: stereo,
} as const satisfies Readonly<Record<string, Trial>>;

export type SoftwareEncoder = keyof typeof SOFTWARE_TRIALS;
export const SOFTWARE_ENCODERS: readonly SoftwareEncoder[] = Object.keys(SOFTWARE_TRIALS) as SoftwareEncoder[];

/** ffmpeg's arguments for one frame by a software encoder, written nowhere. */
export const softwareTrial = (encoder: SoftwareEncoder): string[] => trial(encoder, SOFTWARE_TRIALS[encoder]);

/** ffmpeg's arguments for one frame by a hardware encoder on this device, written nowhere. */
export const hardwareTrial = (codec: HardwareCodec, device: HardwareDevice): string[] => {
  const filters = chainText(uploadFilters(device.name));
  const encoder = hardwareEncoder(codec, device.name);
  return [...deviceArguments(device), ...trial(encoder, [PICTURE_SOURCE, "-frames:v", "1", "-vf", filters])];
};

const trial = (encoder: string, [source, ...options]: Trial): string[] => [
  ...["-f", "lavfi", "-i", source, ...options],
  ...["-c", encoder, "-f", "null", "-"],
];
