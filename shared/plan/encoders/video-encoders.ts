// ffmpeg's options for each software encoder of video: preset, bitrate, keyframes, profile, pass.
import type { VideoCodec } from "../../format/codecs.ts";
import type { TrackContainer } from "../../format/containers.ts";
import type { Size } from "../source/frame-size.ts";
import { capArguments, meanArguments } from "./bitrates.ts";
import type { VideoEncoder } from "./choose-encoder.ts";
import { dnxProfile, proResProfile } from "./mastering-profiles.ts";
import {
  type EncodedVideo,
  keyframeArguments,
  meanKbps,
  passArguments,
  qualityText,
  type VideoEncodeOptions,
} from "./video-encode-options.ts";
import { aomAv1Arguments, svtAv1Arguments, vp8Arguments, vp9Arguments } from "./vpx-av1-encoders.ts";
import { x264Arguments, x265Arguments } from "./x26x-encoders.ts";

/** ffmpeg's options for the video, from `-c:v` on. */
export function videoArguments(encoder: VideoEncoder, options: VideoEncodeOptions): string[] {
  const { spec, container } = options;
  const order = WITHOUT_REORDERING.has(container) && REORDERING.has(encoder) ? ["-bf", "0"] : [];
  return ["-c:v", encoder, ...ENCODERS[encoder](options), ...order, ...fourCharacterCode(spec.codec, container)];
}

/** Pixel format that the encoder gets, by ffmpeg's name. */
export function pixelFormatOf(spec: EncodedVideo, frame: Size, fps: number): string {
  switch (spec.codec) {
    case "prores":
    case "prores-ks":
      return proResProfile(spec.rate, spec.pixelFormat === "yuva444p10le").pixelFormat;
    case "dnxhd":
      return dnxProfile(spec.rate, spec.pixelFormat === "yuv422p", frame, fps).pixelFormat;
    case "mjpeg":
      // JPEG has full range.
      return spec.pixelFormat === "yuv422p" ? "yuvj422p" : "yuvj420p";
    default:
      return spec.pixelFormat ?? "yuv420p";
  }
}

/**
 * Apple's players need HEVC's parameter sets in the header only (`hvc1`). Players of avi know `XVID`; few know ffmpeg's
 * `FMP4`.
 */
const TAGS: Readonly<Partial<Record<TrackContainer, Readonly<Partial<Record<VideoCodec, string>>>>>> = {
  mp4: { hevc: "hvc1" },
  mov: { hevc: "hvc1" },
  avi: { mpeg4: "XVID" },
};

/** Sets the four-character code that identifies the codec to players, if ffmpeg's own choice is not the best. */
export const fourCharacterCode = (codec: VideoCodec, container: TrackContainer): string[] => {
  const tag = TAGS[container]?.[codec];
  return tag ? ["-tag:v", tag] : [];
};

/**
 * Containers with only a decoding time for each frame. Not all players can derive the display order from the frames.
 */
export const WITHOUT_REORDERING: ReadonlySet<TrackContainer> = new Set(["avi", "asf"]);
const REORDERING: ReadonlySet<VideoEncoder> = new Set(["libx264", "libx265", "mpeg2video"]);

/** Half a second, because players of DVDs and broadcasts start anywhere (DVD allows 18 frames at most). */
const MPEG2_KEYFRAME_SECONDS = 0.5;

/**
 * ffmpeg's own encoders: a constant quantizer. With a cap, the quantizer is the finest allowed value and the cap is the
 * mean. So easy scenes have the requested quality, and hard scenes keep the cap.
 */
function quantizerArguments(
  encoder: "mpeg4" | "mpeg2video" | "mjpeg" | "flv" | "h263" | "wmv2",
  options: VideoEncodeOptions,
): string[] {
  const { rate, codec } = options.spec;
  const buffer = codec === "mpeg2video" ? mpeg2BufferKbit(options.frame) : Infinity;
  if (!("quality" in rate)) return meanArguments(meanKbps(options), rate.maxrateKbps, { maxBufferKbit: buffer });
  const quantizer = qualityText(encoder, rate.quality);
  if (rate.maxrateKbps === null) return ["-q:v", quantizer];
  return ["-qmin", quantizer, "-b:v", `${rate.maxrateKbps}k`, ...capArguments(rate.maxrateKbps, buffer)];
}

/** Largest VBV buffer of main profile: at main level up to 720×576, else at high level (ISO 13818-2 table 8-14). */
const mpeg2BufferKbit = ({ width, height }: Size): number => (width <= 720 && height <= 576 ? 1835 : 9781);

function theoraArguments(options: VideoEncodeOptions): string[] {
  const { rate } = options.spec;
  const rates =
    "quality" in rate ? ["-q:v", qualityText("libtheora", rate.quality)] : ["-b:v", `${meanKbps(options)}k`];
  return [...rates, ...keyframeArguments(options), ...passArguments(options)];
}

const quantizerEncoder =
  (encoder: "mpeg4" | "flv" | "h263" | "wmv2" | "mjpeg") =>
  (options: VideoEncodeOptions): string[] => [
    ...quantizerArguments(encoder, options),
    ...(encoder === "mjpeg" ? [] : keyframeArguments(options)),
    ...passArguments(options),
  ];

const mpeg2Arguments = (options: VideoEncodeOptions): string[] => [
  ...quantizerArguments("mpeg2video", options),
  ...keyframeArguments(options, MPEG2_KEYFRAME_SECONDS),
  ...["-bf", "2"],
  ...passArguments(options),
];

const proResArguments = ({ spec }: VideoEncodeOptions): string[] => [
  ...proResProfile(spec.rate, spec.pixelFormat === "yuva444p10le").argv,
  // Apple's own programs expect this vendor.
  ...["-vendor", "apl0"],
];

const dnxArguments = ({ spec, frame, timing }: VideoEncodeOptions): string[] => [
  ...dnxProfile(spec.rate, spec.pixelFormat === "yuv422p", frame, timing.fps).argv,
];

const ENCODERS: Readonly<Record<VideoEncoder, (options: VideoEncodeOptions) => string[]>> = {
  libx264: x264Arguments,
  libx265: x265Arguments,
  libvpx: vp8Arguments,
  "libvpx-vp9": vp9Arguments,
  libsvtav1: svtAv1Arguments,
  "libaom-av1": aomAv1Arguments,
  libtheora: theoraArguments,
  mpeg4: quantizerEncoder("mpeg4"),
  mpeg2video: mpeg2Arguments,
  mjpeg: quantizerEncoder("mjpeg"),
  prores: proResArguments,
  prores_ks: proResArguments,
  dnxhd: dnxArguments,
  flv: quantizerEncoder("flv"),
  h263: quantizerEncoder("h263"),
  wmv2: quantizerEncoder("wmv2"),
};
