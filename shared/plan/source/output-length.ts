// The expected length of outputs.
import type { TrackKind } from "./source-tracks.ts";
import type { Track } from "./track-length.ts";
import type { Trim } from "./trim.ts";

/**
 * `endMs`: earliest end of the track, in ms of the output; null for images, and if the end is not certain. `at`: its
 * position among the tracks of its kind; left out: 0.
 */
export type PlannedTrack = { readonly kind: TrackKind; readonly endMs: number | null; readonly at?: number };

/** True if the length was measured or stated for this very track, so that it can be relied on. */
export const isExact = ({ lengthFrom }: Pick<Track, "lengthFrom">): boolean =>
  lengthFrom === "packets" || lengthFrom === "stream";

/** End of an output of these tracks on the source's timeline, in ms: the end of its longest track or of the trim. */
export function lastEnd({ endMs }: Trim, tracks: readonly Track[]): number | null {
  const ends = tracks.map((track) => track.endMs).filter((end) => end !== null);
  const last = ends.length === 0 ? null : Math.max(...ends);
  // A trim proves nothing if the end of the source is unknown.
  return last === null || endMs === null ? last : Math.min(last, endMs);
}

/**
 * Earliest end of an output's track, in ms of the output; null if the end of the source is not certain. `isAlone`: the
 * output has no other track, so that its run may read no other.
 */
export function leastEnd(trim: Trim, track: Track, isAlone: boolean): number | null {
  const early = isAlone && track.endMs !== null ? { ...track, endMs: track.endMs - track.leadMs } : track;
  const endMs = isExact(track) ? lastEnd(trim, [early]) : null;
  return endMs === null ? null : Math.round(endMs - trim.startMs);
}

/** Earliest end of an output's longest track, in ms; null if no end is certain. */
export function longestEnd(tracks: readonly { readonly endMs: number | null }[]): number | null {
  const ends = tracks.flatMap(({ endMs }) => endMs ?? []);
  return ends.length === 0 ? null : Math.max(...ends);
}

const TOLERANCE_MS = 500;
const TOLERANCE_SHARE = 0.01;

/** Tolerance for the difference from the expected length, in ms. Video and audio frames end at different times. */
export const toleranceMs = (ms: number): number => Math.max(TOLERANCE_MS, ms * TOLERANCE_SHARE);
