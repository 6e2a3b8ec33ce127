// Chunked encoding (`settings.ultrafast`): data about a split source that control plane and nodes exchange.
import * as z from "zod";
import { PackedSplitPoints, unpackSplitPoints } from "../media/frame-index.ts";
import { MAX_FILE_BYTES, MAX_FRAMES, MAX_LENGTH_MS } from "../report-limits.ts";
import { Line } from "./reported-text.ts";
import { RangedSource } from "./scratch.ts";

/** Sources up to this length are encoded whole: splitting them costs more than it saves (contract). */
export const MIN_CHUNKED_MS = 60_000;

const TimeUs = z
  .int()
  .min(-1000 * MAX_LENGTH_MS)
  .max(1000 * MAX_LENGTH_MS);

/** The video track of a chunked source. Timestamps in µs on the source's own timeline (plan/chunks/chunk-video.ts). */
export const ChunkedVideo = z.object({
  /** Number of frames, and their coded size. */
  frames: z.int().min(1).max(MAX_FRAMES),
  bytes: z.int().min(0).max(MAX_FILE_BYTES),
  /** Start of the first frame and end of the last frame. */
  startUs: TimeUs,
  endUs: TimeUs,
  /** The longest distance between two keyframes, in ms. */
  longestGopMs: z.number().min(0).max(MAX_LENGTH_MS),
});
export type ChunkedVideo = z.infer<typeof ChunkedVideo>;

type SplitVideo = ChunkedVideo & { readonly splitPoints: PackedSplitPoints };

/** True if the limits of a report allow a video and its split points. */
export const isReportable = (video: SplitVideo): boolean =>
  ChunkedVideo.safeParse(video).success && PackedSplitPoints.safeParse(video.splitPoints).success && areWithin(video);

/** True if a video has a length, and its split points are within it and in ascending order. */
function areWithin({ splitPoints, ...video }: SplitVideo): boolean {
  const { frames, bytes, startUs, endUs } = video;
  let before = { index: 0, splitUs: startUs, frameUs: startUs, keyframe: 0, bytes: 0 };
  for (const point of unpackSplitPoints(splitPoints)) {
    const isBehind = point.index > before.index && point.splitUs > before.splitUs && point.frameUs > before.frameUs;
    const isDecodable = point.keyframe >= before.keyframe && point.keyframe <= point.index;
    if (!isBehind || !isDecodable || point.bytes < before.bytes) return false;
    before = point;
  }
  const isLong = endUs > startUs && endUs - startUs <= 1000 * MAX_LENGTH_MS;
  return isLong && before.index < frames && before.frameUs <= endUs && before.bytes <= bytes;
}

/** Report of an inspecting node about splitting the source. */
export const Chunking = z.discriminatedUnion("ok", [
  z
    .object({
      ok: z.literal(true),
      source: RangedSource,
      ...ChunkedVideo.shape,
      /** Possible split points, at most one every two seconds. */
      splitPoints: PackedSplitPoints,
    })
    .refine(areWithin, "split points must be within the video, in ascending order"),
  /** Reason why the source cannot be split, in a sentence. */
  z.object({ ok: z.literal(false), reason: Line(300).min(1) }),
]);
export type Chunking = z.infer<typeof Chunking>;

/** A split point: the first frame after it, and timestamps in µs on the source's timeline (see PossibleSplitPoint). */
export const SplitPoint = z.object({
  index: z.int(),
  splitUs: z.int(),
  frameUs: z.int(),
  keyframe: z.int(),
  bytes: z.int(),
});
export type SplitPoint = z.infer<typeof SplitPoint>;

/** The frames of the source between two split points. */
export const ChunkRange = z.object({
  /** Number of the chunk, from 0, in time order. */
  index: z.int().min(0),
  /** Null: from the start of the source. */
  from: SplitPoint.nullable(),
  /** Null: to the end of the source. */
  to: SplitPoint.nullable(),
  /** Number of frames of the source. */
  frames: z.int().min(1),
});
export type ChunkRange = z.infer<typeof ChunkRange>;

/** A chunk, with facts about the whole source that its encoder needs. */
export const ChunkSpan = ChunkRange.extend({
  /** Start of the source's first frame, in µs on the source's timeline. */
  startUs: z.int(),
  /** The longest distance between two keyframes of the source, in ms. */
  longestGopMs: z.number().min(0),
  /** The chunk's mean bitrate, as a multiple of the source's. */
  share: z.number().positive(),
});
export type ChunkSpan = z.infer<typeof ChunkSpan>;

const Frames = z.int().min(0).max(MAX_FRAMES);

/** Comparison of the joined video with its plan at the chunk boundaries. */
export const ChunkBoundaryCheck = z.object({
  framesPlanned: Frames,
  framesJoined: Frames,
  /** The largest difference between a chunk's first frame and its planned time, in µs. */
  largestErrorUs: z
    .number()
    .min(0)
    .max(1000 * MAX_LENGTH_MS),
  /** Duration of the video minus duration of the audio, in ms; null without audio. */
  videoOverAudioMs: z.number().min(-MAX_LENGTH_MS).max(MAX_LENGTH_MS).nullable(),
});
export type ChunkBoundaryCheck = z.infer<typeof ChunkBoundaryCheck>;
