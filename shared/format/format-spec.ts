// What a format is once it is understood: complete, defaults filled in, units in names. Null means automatic.
import * as z from "zod";
import { AUDIO_CHOICES, PIXEL_FORMATS, PROFILES, VIDEO_CHOICES } from "./codecs.ts";
import { IMAGE_CONTAINERS, TRACK_CONTAINERS } from "./containers.ts";
import { CHANNELS } from "./presets.ts";

/** Frame size asked for, in pixels; null means automatic: from the other side, or from the source when both are. */
export const FrameSize = z.object({ width: z.int().nullable(), height: z.int().nullable() });
export type FrameSize = z.infer<typeof FrameSize>;

/**
 * How many bits the picture gets: a mean bitrate (null: by picture size), or a quality step 1–5 (5 best). Either may be
 * capped; a mean that was asked for is not above its cap, and an automatic one gives way to it.
 */
export const RateTarget = z.union([
  z.object({ bitrateKbps: z.int().nullable(), maxrateKbps: z.int().nullable() }),
  z.object({ quality: z.int(), maxrateKbps: z.int().nullable() }),
]);
export type RateTarget = z.infer<typeof RateTarget>;

/** With the codec `copy`, which takes the source's stream as it is, all else is automatic. */
export const VideoTrackSpec = z.object({
  codec: z.enum(VIDEO_CHOICES),
  size: FrameSize,
  rate: RateTarget,
  /** Frames per second as ffmpeg takes it (`30000/1001`), or null for the source's own timing. */
  fps: z.string().nullable(),
  /** Null: the codec's own, 8 bits of 4:2:0 wherever it has that. */
  pixelFormat: z.enum(PIXEL_FORMATS).nullable(),
  profile: z.enum(PROFILES).nullable(),
  /** Ten times the level's number: 41 is 4.1. */
  level: z.int().nullable(),
  twoPass: z.boolean(),
});
export type VideoTrackSpec = z.infer<typeof VideoTrackSpec>;

/** With the codec `copy`, which takes the source's stream as it is, all else is null. */
export const AudioTrackSpec = z.object({
  codec: z.enum(AUDIO_CHOICES),
  /** Null for codecs that keep every sample. */
  bitrateKbps: z.int().nullable(),
  /** Null: the source's, or the nearest that codec and container take. */
  sampleRateHz: z.int().nullable(),
  /** `multi`: all of the source's, as many as the codec takes. Null: the source's, at the planner's choice. */
  channels: z.enum(CHANNELS).nullable(),
});
export type AudioTrackSpec = z.infer<typeof AudioTrackSpec>;

/** A file of tracks, at least one of which is there; named for its output type, which is `video` for sound alone too. */
export const VideoFormat = z.object({
  type: z.literal("video"),
  container: z.enum(TRACK_CONTAINERS),
  video: VideoTrackSpec.nullable(),
  audio: AudioTrackSpec.nullable(),
  /** Whether the source's tags (title, artist and so on) go into the file. */
  keepsMetadata: z.boolean(),
  /** Written in fragments (`moof` boxes), so that it can be read while it is being made. */
  fragmented: z.boolean(),
});
export type VideoFormat = z.infer<typeof VideoFormat>;

export const ImageFormat = z.object({
  type: z.literal("image"),
  container: z.enum(IMAGE_CONTAINERS),
  size: FrameSize,
});
export type ImageFormat = z.infer<typeof ImageFormat>;

export type FormatSpec = VideoFormat | ImageFormat;
