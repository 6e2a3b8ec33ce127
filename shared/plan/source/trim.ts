// Trims outputs: exactly to the frame, with video and audio in sync, and without decoding everything before an offset.
import { type Clip, clippedPart } from "../../job/clip.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import { changesInTime } from "../../job/overlays.ts";
import { INDEXED_DEMUXERS } from "../../media/demuxers.ts";
import { fraction } from "../../media/media-probe.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { SourceTracks, VideoTrack } from "./source-tracks.ts";

/** Times in ms on the source's timeline. */
export type Trim = {
  /** Start of reading in the source; 0: at its start. */
  readonly seekMs: number;
  /** Start of the output: at a frame if the rate is constant, otherwise exactly at the offset. */
  readonly startMs: number;
  /** End of the output; null: the end of the source. */
  readonly endMs: number | null;
};

/** The whole source. */
export const NO_TRIM: Trim = { seekMs: 0, startMs: 0, endMs: null };

/**
 * A frame that starts this much before the offset may still be the first, because containers and people round to
 * milliseconds.
 */
const TOLERANCE_MS = 1;

/**
 * Time from the start of reading to the output, in ms, by demuxer; null: reading starts with the source. If the file
 * has an index, ffmpeg finds the keyframe before a time. The preroll is for streams that recover over many frames. In
 * MPEG-TS, a seek may end anywhere, and everything before the next keyframe is lost. Broadcasts have a keyframe every
 * few seconds.
 */
function prerollOf({ format, restarts }: Pick<SourceTracks, "format" | "restarts">): number | null {
  if (restarts) return null;
  if (INDEXED_DEMUXERS.has(format)) return 10_000;
  return format === "mpegts" ? 30_000 : null;
}

/**
 * Outputs with offsets up to this share the decode with other outputs. That costs hardly more than their own decode.
 */
const NEAR_MS = 10_000;

/** Frames before the output that filters may look at (deinterlacing, frame rates); far more than they need. */
const FILTERED_BEFORE_MS = 1000;

/**
 * The part of the source that an output shows. The first frame of the output is its first frame at or after the offset.
 * From there on, it has the same frames as an untrimmed output.
 */
export function trimOf({ offsetMs, durationMs, video, clip, ...drawings }: Trimmed, source: SourceTracks): Trim {
  const track = source.video;
  if (offsetMs === 0) return { seekMs: 0, startMs: 0, endMs: durationMs };
  const grid = video && track ? gridOf(video.fps, track) : null;
  const startMs = grid ? onGrid(offsetMs, grid) : offsetMs;
  const clipEndMs = (clip?.endMs ?? Number.POSITIVE_INFINITY) - (grid ? TOLERANCE_MS : 0);
  return {
    seekMs: seekPoint(offsetMs, prerollOf(source), { fps: video?.fps ?? null, unit: changesInTime(drawings) ? 10 : 1 }),
    startMs,
    endMs: durationMs === null ? null : Math.min(startMs + durationMs, clipEndMs),
  };
}

type Trimmed = Pick<VideoOutput, "offsetMs" | "durationMs" | "clip" | "burn" | "overlays"> & {
  readonly video: { readonly fps: string | null } | null;
};

/** The part that an output shows which keeps the frames of the source, and has no `offset` or `duration`. */
export const ownTrim = (clip: Clip | undefined, source: SourceTracks): Trim =>
  clip ? trimOf({ ...clippedPart(clip), clip, video: { fps: null } }, source) : NO_TRIM;

/** Start of a clip for outputs without an `offset`: at a frame if the rate is constant. In ms of the source. */
export function clipStart({ startMs }: Clip, track: VideoTrack, fps: string | null = null): number {
  const grid = gridOf(fps, track);
  return startMs === 0 || !grid ? startMs : onGrid(startMs, grid) + TOLERANCE_MS;
}

/** Options of the output: `-ss` and `-t` trim every stream at the same time, audio to the sample. */
export const trimArguments = ({ seekMs, startMs, endMs }: Trim): string[] => [
  ...(startMs === 0 ? [] : ["-ss", seconds(startMs - seekMs)]),
  ...(endMs === null ? [] : ["-t", seconds(endMs - startMs)]),
];

/** Filters that drop most frames before the output, so that later filters need not process them. */
export function trimFilters({ seekMs, startMs }: Trim): string[] {
  const fromMs = startMs - seekMs - FILTERED_BEFORE_MS;
  return fromMs > 0 ? [`trim=start=${seconds(fromMs)}`] : [];
}

type Grid = { readonly fps: number; readonly originMs: number };

/** ffmpeg's `fps` counts from 0. Frames that keep their own constant rate count from the first frame. */
function gridOf(requestedFps: string | null, track: VideoTrack): Grid | null {
  const fps = fraction(requestedFps ?? undefined);
  if (fps !== null) return { fps, originMs: 0 };
  return track.constantRate && track.fps !== null ? { fps: track.fps, originMs: track.startMs } : null;
}

/** Time of the first frame at or after the offset, less the tolerance, so that rounded times are not before it. */
function onGrid(offsetMs: number, { fps, originMs }: Grid): number {
  const frame = Math.ceil(((offsetMs - TOLERANCE_MS - originMs) * fps) / 1000);
  return Math.max(0, originMs + (frame * 1000) / fps - TOLERANCE_MS);
}

type SeekUnit = { readonly fps: string | null; readonly unit: number };

/**
 * A whole number of the output's frames, so that `fps` counts the same frames after the seek as without it. Captions
 * and overlaid texts have times in units of 10 ms.
 */
function seekPoint(offsetMs: number, prerollMs: number | null, { fps, unit }: SeekUnit): number {
  if (prerollMs === null || offsetMs <= prerollMs + NEAR_MS) return 0;
  const unitMs = fps?.endsWith("/1001") ? 1001 * unit : 1000;
  return Math.floor((offsetMs - prerollMs) / unitMs) * unitMs;
}
