// The part of the source that an output shows: frame-exact, picture and sound in step, and cheap far into a long film.

import type { VideoOutput } from "../../job/output-spec.ts";
import { INDEXED_DEMUXERS } from "../../media/demuxers.ts";
import { fraction } from "../../media/media-probe.ts";
import { seconds } from "../command/progress-ticks.ts";
import type { SourceTracks, VideoTrack } from "./source-tracks.ts";

/** Times in ms on the source's own line. */
export type Trim = {
  /** From where on the source is read; 0: from its beginning. */
  readonly seekMs: number;
  /** Where the output begins: at a frame where there is a constant rate, else at the very offset. */
  readonly startMs: number;
  /** Where it ends; null: with the source. */
  readonly endMs: number | null;
};

/** All of it. */
export const NO_TRIM: Trim = { seekMs: 0, startMs: 0, endMs: null };

/**
 * A frame may begin so much before the offset and still be the first: times of containers, and of people, are rounded
 * to milliseconds.
 */
const TOLERANCE_MS = 1;

/**
 * How long before the cut reading begins, by demuxer. With an index ffmpeg finds the keyframe before a time; the lead is for
 * streams that recover over many frames. Without one it lands anywhere, and what comes before the next keyframe is
 * lost: broadcasts have one at least every few seconds. Others are read from their beginning.
 */
function leadOf(format: string): number | null {
  if (INDEXED_DEMUXERS.has(format)) return 10_000;
  return format === "mpegts" ? 30_000 : null;
}

/** Offsets up to this are decoded along with everything else, which is hardly dearer than a decode of their own. */
const NEAR_MS = 10_000;

/** Frames before the cut that its filters may look at (deinterlacing, frame rates); far more than they do. */
const SHOWN_BEFORE_MS = 1000;

/**
 * The cut of an output. Its first frame is the first at or after the offset: of those that the output will have, so that it
 * has the same frames as the whole film from there on.
 */
export function trimOf({ offsetMs, durationMs, video }: VideoOutput, { video: track, format }: SourceTracks): Trim {
  if (offsetMs === 0) return { seekMs: 0, startMs: 0, endMs: durationMs };
  const grid = video && track ? gridOf(video.fps, track) : null;
  const startMs = grid ? onGrid(offsetMs, grid) : offsetMs;
  return {
    seekMs: seekPoint(offsetMs, leadOf(format), video?.fps ?? null),
    startMs,
    endMs: durationMs === null ? null : startMs + durationMs,
  };
}

/** Options of the output: `-ss` and `-t` cut every stream at the same time, sound to the sample. */
export const trimArguments = ({ seekMs, startMs, endMs }: Trim): string[] => [
  ...(startMs === 0 ? [] : ["-ss", seconds(startMs - seekMs)]),
  ...(endMs === null ? [] : ["-t", seconds(endMs - startMs)]),
];

/** Filters that spare the others most of what lies before the cut. */
export function trimFilters({ seekMs, startMs }: Trim): string[] {
  const fromMs = startMs - seekMs - SHOWN_BEFORE_MS;
  return fromMs > 0 ? [`trim=start=${seconds(fromMs)}`] : [];
}

type Grid = { readonly fps: number; readonly originMs: number };

/** ffmpeg's `fps` counts from 0; frames with a constant rate of their own count from the first. */
function gridOf(asked: string | null, track: VideoTrack): Grid | null {
  const fps = fraction(asked ?? undefined);
  if (fps !== null) return { fps, originMs: 0 };
  return track.constantRate && track.fps !== null ? { fps: track.fps, originMs: track.startMs } : null;
}

/** The time of the first frame at or after the offset; a little less, so that rounded times are not before it. */
function onGrid(offsetMs: number, { fps, originMs }: Grid): number {
  const frame = Math.ceil(((offsetMs - TOLERANCE_MS - originMs) * fps) / 1000);
  return Math.max(0, originMs + (frame * 1000) / fps - TOLERANCE_MS);
}

/** A whole number of frames of the output, so that `fps` counts the same frames after the seek as without it. */
function seekPoint(offsetMs: number, leadMs: number | null, fps: string | null): number {
  if (leadMs === null || offsetMs <= leadMs + NEAR_MS) return 0;
  const unitMs = fps?.endsWith("/1001") ? 1001 : 1000;
  return Math.floor((offsetMs - leadMs) / unitMs) * unitMs;
}
