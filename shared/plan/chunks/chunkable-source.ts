// Describes a source that may be split into chunks. The description is small enough to send to the control plane.

import type { Clip } from "../../job/clip.ts";
import type { OutputSpec } from "../../job/output-spec.ts";
import { INDEXED_DEMUXERS } from "../../media/demuxers.ts";
import {
  type FrameIndex,
  longestGopMs,
  type PossibleSplitPoint,
  possibleSplitPoints,
  ROUNDING_SECONDS,
  ticksToUs,
} from "../../media/frame-index.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import { ptsOriginUs } from "../source/pts-origin.ts";
import { chooseTracks } from "../source/source-tracks.ts";
import { ownTrim } from "../source/trim.ts";
import { isUnsure, slotOfFirst, slotRate, slotsOfAll } from "./frame-slots.ts";

export type ChunkableSource = {
  readonly frames: number;
  /** Start of the first frame and end of the last frame, in µs on the timeline of a run that reads video and audio. */
  readonly startUs: number;
  readonly endUs: number;
  /** Coded size of all frames. */
  readonly bytes: number;
  readonly longestGopMs: number;
  /** At most one split point per grid line. The grid has lines every two seconds, from the first frame on. */
  readonly splitPoints: readonly PossibleSplitPoint[];
};

/** All keyframe grids have lines at multiples of this. */
export const SPLIT_GRID_MS = 2000;

/** A frame this near to the start of a grid cell clearly belongs to neither cell. In seconds. */
const UNSURE_SECONDS = 0.00001;

/** Distance from the first frame to the grid line of a split point. */
export const gridLineMs = (
  { startUs }: Pick<ChunkableSource, "startUs">,
  { frameUs }: Pick<PossibleSplitPoint, "frameUs">,
): number => Math.floor((frameUs - startUs + ROUNDING_SECONDS * 1e6) / (SPLIT_GRID_MS * 1000)) * SPLIT_GRID_MS;

/**
 * Returns the source, or a clip of it, with only its exact split points. A run that starts at an exact split point
 * gives each frame the same time as a run over the whole source. The first frame is also a keyframe in that run.
 */
export function chunkableSource(all: FrameIndex, probe: MediaProbe, clip?: Clip): ChunkableSource {
  const originUs = ptsOriginUs(probe);
  const { startMs, endMs } = ownTrim(clip, chooseTracks(probe));
  const secondsOf = (ticks: number): number => (ticksToUs(all, ticks) - originUs) / 1e6;
  const fps = slotRate(probe);
  const sinceStart = (ticks: number): number => secondsOf(ticks) - startMs / 1000;
  // ffmpeg ends an output by the times that its encoder gets.
  const shownAt = (ticks: number): number =>
    fps === null ? sinceStart(ticks) : slotOfFirst(sinceStart(ticks), fps) / fps + UNSURE_SECONDS;
  const part = framesBetween(
    all,
    startMs === 0 ? () => true : (ticks) => sinceStart(ticks) >= 0,
    endMs === null ? () => false : (ticks) => shownAt(ticks) >= (endMs - startMs) / 1000,
  );
  const seconds = Float64Array.from(part.ticks, sinceStart);
  return {
    frames: part.ticks.length,
    startUs: Math.round(secondsOf(part.ticks[0] ?? 0) * 1e6),
    endUs: Math.round(ticksToUs(all, part.endTicks) - originUs),
    bytes: part.bytes.reduce((sum, size) => sum + size, 0),
    longestGopMs: longestGopMs(all),
    splitPoints: exactSplitPoints(part, seconds, fps).map((point) => ({
      ...point,
      splitUs: point.splitUs - originUs,
      frameUs: point.frameUs - originUs,
    })),
  };
}

/** The frames from a start to before an end. Their first frame counts as a keyframe. */
function framesBetween(
  all: FrameIndex,
  hasStarted: (ticks: number) => boolean,
  hasEnded: (ticks: number) => boolean,
): FrameIndex {
  const countUntil = (isReached: (ticks: number) => boolean): number => {
    const at = all.ticks.findIndex(isReached);
    return at < 0 ? all.ticks.length : at;
  };
  const [from, to] = [countUntil(hasStarted), countUntil(hasEnded)];
  const keyframes = all.keyframes.filter((index) => index > from && index < to).map((index) => index - from);
  return {
    ...all,
    ticks: all.ticks.subarray(from, to),
    bytes: all.bytes.subarray(from, to),
    keyframes: Uint32Array.from([0, ...keyframes]),
    endTicks: all.ticks[to] ?? all.endTicks,
  };
}

/**
 * Split points that are exact. `seconds`: times of all frames since the start of the output. `fps`: their constant rate,
 * or null.
 */
function exactSplitPoints(frameIndex: FrameIndex, seconds: Float64Array, fps: number | null): PossibleSplitPoint[] {
  const timestamps = fps === null ? seconds : shownTimes(seconds, fps);
  if (timestamps === null) return [];
  return possibleSplitPoints(frameIndex, SPLIT_GRID_MS).filter(
    ({ index }) => isOnLine(timestamps, index) && (fps === null || isIndependent(seconds, timestamps, index, fps)),
  );
}

/** Times of frames with a constant rate; null if a run would drop some of them. */
function shownTimes(seconds: Float64Array, fps: number): Float64Array | null {
  const slots = slotsOfAll(seconds, fps);
  if (slots.includes(null) || isUnsure(seconds[0] ?? 0, fps)) return null;
  return Float64Array.from(slots, (slot) => (slot ?? 0) / fps);
}

/** True if the time of the frame does not depend on earlier frames. */
function isIndependent(seconds: Float64Array, timestamps: Float64Array, index: number, fps: number): boolean {
  const time = seconds[index] ?? 0;
  return !isUnsure(time, fps) && slotOfFirst(time, fps) === Math.round((timestamps[index] ?? 0) * fps);
}

/** True if the frame is the first of a grid cell with any rounding. */
function isOnLine(timestamps: Float64Array, index: number): boolean {
  const cell = (at: number, moved: number): number =>
    Math.floor(((timestamps[at] ?? 0) - (timestamps[0] ?? 0) + ROUNDING_SECONDS + moved) / (SPLIT_GRID_MS / 1000));
  const [here, before] = [cell(index, -UNSURE_SECONDS), cell(index - 1, UNSURE_SECONDS)];
  return here > before && here === cell(index, UNSURE_SECONDS);
}

/** Upper bound for the grid. The longest chunk must be a whole multiple of the grid. */
const MAX_GRID_MS = 60_000;

/**
 * Returns a length whose multiples are the chunk lengths. With it, chunk boundaries are segment boundaries of all
 * outputs. Null if no such length of up to a minute exists.
 */
export function chunkGridMs(outputs: readonly OutputSpec[]): number | null {
  const segments = outputs.flatMap((spec) => (spec.type === "httpstream" ? [spec.segmentDurationMs] : []));
  if (!segments.every(Number.isInteger)) return null;
  const grid = segments.reduce((common, segment) => (common / gcd(common, segment)) * segment, SPLIT_GRID_MS);
  return grid <= MAX_GRID_MS ? grid : null;
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

const INDEXED_MARGIN_MS = 1000;
const TS_LEAST_MS = 10_000;

/**
 * Time between the start of decoding and the chunk, in ms. Null if ffmpeg cannot start in the middle of such a file. If
 * the file has an index, decoding starts at the keyframe before the chunk. Video that recovers over many frames is
 * complete by the next keyframe. Without an index, ffmpeg's seek ends anywhere.
 */
export function prerollOf(format: string, longestGopMs: number): number | null {
  if (INDEXED_DEMUXERS.has(format)) return longestGopMs + INDEXED_MARGIN_MS;
  return format === "mpegts" ? Math.max(TS_LEAST_MS, 2 * longestGopMs + INDEXED_MARGIN_MS) : null;
}
