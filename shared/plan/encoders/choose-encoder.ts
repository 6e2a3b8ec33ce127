// Which of ffmpeg's encoders makes a codec on a node.
import type { Failure } from "../../errors.ts";
import type { AudioCodec, VideoCodec } from "../../format/codecs.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { SoftwareEncoder } from "./encoders.ts";

/** The better one first. SVT-AV1 is several times as fast as libaom at equal quality, and has no second pass in ffmpeg. */
const VIDEO_ENCODERS = {
  h264: ["libx264"],
  hevc: ["libx265"],
  vp8: ["libvpx"],
  vp9: ["libvpx-vp9"],
  av1: ["libsvtav1", "libaom-av1"],
  theora: ["libtheora"],
  mpeg4: ["mpeg4"],
  mpeg2video: ["mpeg2video"],
  mjpeg: ["mjpeg"],
  prores: ["prores", "prores_ks"],
  "prores-ks": ["prores_ks", "prores"],
  dnxhd: ["dnxhd"],
  flv: ["flv"],
  h263: ["h263"],
  wmv2: ["wmv2"],
} as const satisfies Readonly<Record<VideoCodec, readonly SoftwareEncoder[]>>;

/** Encoders that pictures of films are made with. */
export type VideoEncoder = (typeof VIDEO_ENCODERS)[VideoCodec][number];

const AUDIO_ENCODERS = {
  aac: "aac",
  ac3: "ac3",
  mp2: "mp2",
  mp3: "libmp3lame",
  vorbis: "libvorbis",
  opus: "libopus",
  flac: "flac",
  "pcm-s16le": "pcm_s16le",
  "pcm-u8": "pcm_u8",
  "pcm-alaw": "pcm_alaw",
  "amr-nb": "libopencore_amrnb",
  wmav2: "wmav2",
} as const satisfies Readonly<Record<AudioCodec, SoftwareEncoder>>;

export type AudioEncoder = (typeof AUDIO_ENCODERS)[AudioCodec];

/** Encoders that ffmpeg cannot lead through two passes. */
const ONE_PASS: ReadonlySet<VideoEncoder> = new Set(["libsvtav1"]);

/** The software encoder for a codec; null when this node has none. */
export function videoEncoder(
  codec: VideoCodec,
  twoPass: boolean,
  can: Pick<FfmpegCapabilities, "encoders">,
): VideoEncoder | null {
  const candidates: readonly VideoEncoder[] = VIDEO_ENCODERS[codec];
  return candidates.find((name) => can.encoders.includes(name) && !(twoPass && ONE_PASS.has(name))) ?? null;
}

/** The encoder for a codec; null when this node does not have it. */
export function audioEncoder(codec: AudioCodec, can: Pick<FfmpegCapabilities, "encoders">): AudioEncoder | null {
  const name = AUDIO_ENCODERS[codec];
  return can.encoders.includes(name) ? name : null;
}

/** Another node may have it, so this may be tried again. */
export const encoderFailure = (codec: VideoCodec | AudioCodec): Failure => ({
  code: "encoder_not_available",
  message: `The ffmpeg build of the encoder node has no encoder for \`${codec}\` that works.`,
});
