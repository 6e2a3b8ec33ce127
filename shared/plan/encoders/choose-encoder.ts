// Chooses ffmpeg's encoder for a codec on a node.
import type { Failure } from "../../errors.ts";
import type { AudioCodec, VideoCodec } from "../../format/codecs.ts";
import type { Need } from "../../protocol/needs.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Size } from "../source/frame-size.ts";
import type { SoftwareEncoder } from "./software-encoders.ts";

/**
 * Encoders per codec, best first. SVT-AV1 is several times as fast as libaom at equal quality, but has no second pass
 * in ffmpeg.
 */
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

/** Software encoders of video tracks. */
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

/** Encoders without a two-pass mode in ffmpeg. */
const ONE_PASS: ReadonlySet<VideoEncoder> = new Set(["libsvtav1"]);

/** SVT-AV1 rejects smaller sides; versions before 1.0 crash. */
const SVT_MIN_SIDE = 64;

/** Software encoders for video of this codec and size, best first. */
export function videoEncoders(codec: VideoCodec, twoPass: boolean, { width, height }: Size): VideoEncoder[] {
  const candidates: readonly VideoEncoder[] = VIDEO_ENCODERS[codec];
  const isSmall = Math.min(width, height) < SVT_MIN_SIDE;
  return candidates.filter((name) => !(twoPass && ONE_PASS.has(name)) && !(isSmall && name === "libsvtav1"));
}

/** The encoder for a codec; null if this node does not have it. */
export function chooseAudioEncoder(
  codec: AudioCodec,
  capabilities: Pick<FfmpegCapabilities, "encoders">,
): AudioEncoder | null {
  const name = AUDIO_ENCODERS[codec];
  return capabilities.encoders.includes(name) ? name : null;
}

export const audioEncoderNeed = (codec: AudioCodec): Need => ({ kind: "encoder", anyOf: [AUDIO_ENCODERS[codec]] });

/** Failure of a node without an encoder for the codec. Another node may have an encoder, so a retry is possible. */
export const encoderFailure = (codec: VideoCodec | AudioCodec): Failure => ({
  code: "encoder_not_available",
  message: `The ffmpeg build of the encoder node has no encoder for \`${codec}\` that works.`,
});
