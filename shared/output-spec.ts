// What one output is to be, after the request was parsed: complete, defaults filled in, units in names.
import * as z from "zod";

export const VIDEO_CONTAINERS = ["mp4"] as const;
export const IMAGE_CONTAINERS = ["jpg"] as const;
export type VideoContainer = (typeof VIDEO_CONTAINERS)[number];
export type ImageContainer = (typeof IMAGE_CONTAINERS)[number];

/** Frame size asked for, in pixels; null means automatic: from the other side, or from the source when both are. */
export const FrameSize = z.object({ width: z.int().nullable(), height: z.int().nullable() });
export type FrameSize = z.infer<typeof FrameSize>;

/** How hard the encoder tries: a mean bitrate, or a quality step 1–5 (5 best) that may be capped. Null: by picture size. */
export const RateTarget = z.union([
  z.object({ bitrateKbps: z.int() }),
  z.object({ quality: z.int(), maxrateKbps: z.int().nullable() }),
]);
export type RateTarget = z.infer<typeof RateTarget>;

export const VideoTrackSpec = z.object({
  codec: z.literal("h264"),
  size: FrameSize,
  rate: RateTarget.nullable(),
  /** Frames per second as ffmpeg takes it (`30000/1001`), or null for the source's own timing. */
  fps: z.string().nullable(),
});
export type VideoTrackSpec = z.infer<typeof VideoTrackSpec>;

export const AudioTrackSpec = z.object({
  codec: z.literal("aac"),
  bitrateKbps: z.int(),
  sampleRateHz: z.int().nullable(),
  channels: z.enum(["mono", "stereo"]).nullable(),
});
export type AudioTrackSpec = z.infer<typeof AudioTrackSpec>;

const outputBase = {
  /** Position in the request, from 0: names the output inside a job. */
  index: z.int(),
  key: z.string(),
  /** The output specification as it was sent, echoed in answers. */
  format: z.string(),
  /** Object name below the storage's own path; image paths may hold a counter (`%02d`). */
  path: z.string(),
  /** The output is made only if this holds for the input (`if`); null: always. */
  condition: z.string().nullable(),
};

export const VideoOutput = z.object({
  ...outputBase,
  type: z.literal("video"),
  container: z.enum(VIDEO_CONTAINERS),
  video: VideoTrackSpec.nullable(),
  audio: AudioTrackSpec.nullable(),
  /** Length to cut the output to. */
  durationMs: z.number().nullable(),
});
export type VideoOutput = z.infer<typeof VideoOutput>;

export const ImageOutput = z.object({
  ...outputBase,
  type: z.literal("image"),
  container: z.enum(IMAGE_CONTAINERS),
  size: FrameSize,
  /** How many pictures, evenly spread over the duration. */
  number: z.int(),
  square: z.boolean(),
});
export type ImageOutput = z.infer<typeof ImageOutput>;

export const OutputSpec = z.discriminatedUnion("type", [VideoOutput, ImageOutput]);
export type OutputSpec = z.infer<typeof OutputSpec>;
