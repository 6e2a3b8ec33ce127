// A parsed format with all defaults filled in and units in the names. Null means automatic.
import * as z from "zod";
import { AUDIO_CHOICES, CHANNELS, PIXEL_FORMATS, PROFILES, VIDEO_CHOICES } from "./codecs.ts";
import { IMAGE_CONTAINERS, TEXT_CONTAINERS, TRACK_CONTAINERS } from "./containers.ts";

/**
 * Requested frame size in pixels. Null means automatic: derived from the other side, or from the source if both are
 * null.
 */
export const FrameSize = z.object({ width: z.int().nullable(), height: z.int().nullable() });
export type FrameSize = z.infer<typeof FrameSize>;

/**
 * A requested VMAF. A search finds the rate factor with the fewest bits that reaches it (docs/quality.md). `rateFactor`
 * is the result; null before the search.
 */
export const VmafTarget = z.object({
  vmaf: z.int(),
  maxrateKbps: z.int().nullable(),
  rateFactor: z.number().nullable().default(null),
});
export type VmafTarget = z.infer<typeof VmafTarget>;

/**
 * Rate control of video: a mean bitrate (null: derived from the frame size), a quality step 1–5 (5 is best), or a VMAF.
 * Each may have a maximum. A requested mean does not exceed the maximum; an automatic mean is limited by it.
 */
export const RateTarget = z.union([
  z.object({ bitrateKbps: z.int().nullable(), maxrateKbps: z.int().nullable() }),
  z.object({ quality: z.int(), maxrateKbps: z.int().nullable() }),
  VmafTarget,
]);
export type RateTarget = z.infer<typeof RateTarget>;

/** With the codec `copy`, the source's stream is not encoded, and all other fields are automatic. */
export const VideoTrackSpec = z.object({
  codec: z.enum(VIDEO_CHOICES),
  size: FrameSize,
  rate: RateTarget,
  /** Frames per second in ffmpeg's notation (`30000/1001`); null keeps the source's timing. */
  fps: z.string().nullable(),
  /** Null: the codec's default, which is 4:2:0 in 8 bits if supported. */
  pixelFormat: z.enum(PIXEL_FORMATS).nullable(),
  profile: z.enum(PROFILES).nullable(),
  /** Ten times the level number: 41 is 4.1. */
  level: z.int().nullable(),
  twoPass: z.boolean(),
});
export type VideoTrackSpec = z.infer<typeof VideoTrackSpec>;

/** With the codec `copy`, the source's stream is not encoded, and all other fields are null. */
export const AudioTrackSpec = z.object({
  codec: z.enum(AUDIO_CHOICES),
  /** Null for lossless codecs. */
  bitrateKbps: z.int().nullable(),
  /** Null: the source's rate, or the nearest rate that codec and container support. */
  sampleRateHz: z.int().nullable(),
  /** `multi`: all channels of the source that the codec supports. Null: the planner decides. */
  channels: z.enum(CHANNELS).nullable(),
});
export type AudioTrackSpec = z.infer<typeof AudioTrackSpec>;

/** A file with at least one track. Its type is `video` even for audio only, like the type of the output. */
export const VideoFormat = z.object({
  type: z.literal("video"),
  container: z.enum(TRACK_CONTAINERS),
  video: VideoTrackSpec.nullable(),
  audio: AudioTrackSpec.nullable(),
  /** True to copy the source's tags (title, artist and so on). */
  keepsMetadata: z.boolean(),
  /** True to write fragments (`moof` boxes), so that the file can be read while it is written. */
  fragmented: z.boolean(),
});
export type VideoFormat = z.infer<typeof VideoFormat>;

export const ImageFormat = z.object({
  type: z.literal("image"),
  container: z.enum(IMAGE_CONTAINERS),
  size: FrameSize,
  /** A quality step, 1 to 4. Absent: 5, the best step. */
  quality: z.int().exactOptional(),
});
export type ImageFormat = z.infer<typeof ImageFormat>;

export const TextFormat = z.object({ type: z.literal("text"), container: z.enum(TEXT_CONTAINERS) });
export type TextFormat = z.infer<typeof TextFormat>;

export type FormatSpec = VideoFormat | ImageFormat | TextFormat;
