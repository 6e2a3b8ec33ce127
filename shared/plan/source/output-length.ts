// The expected length of outputs.
import type { Track } from "./track-length.ts";
import type { Trim } from "./trim.ts";

/** Whether the length was measured or stated for this very track, so that it can be relied on. */
export const isExact = ({ lengthFrom }: Pick<Track, "lengthFrom">): boolean =>
  lengthFrom === "packets" || lengthFrom === "stream";

/**
 * Where an output of these tracks ends on the source's timeline, in ms: with its longest track, or where it is trimmed.
 */
export function lastEnd({ endMs }: Trim, tracks: readonly Track[]): number | null {
  const ends = tracks.map((track) => track.endMs).filter((end) => end !== null);
  const last = ends.length === 0 ? null : Math.max(...ends);
  // A trim proves nothing if the end of the source is unknown.
  return last === null || endMs === null ? last : Math.min(last, endMs);
}

/** The least length of an output of these tracks, in ms; null if unknown. */
export function lengthOf(trim: Trim, tracks: readonly Track[]): number | null {
  const endMs = lastEnd(trim, tracks);
  return endMs === null ? null : Math.round(endMs - trim.startMs);
}

const TOLERANCE_MS = 500;
const TOLERANCE_SHARE = 0.01;

/** How much a length may differ from the expected one, in ms: video and audio frames end at different times. */
export const toleranceMs = (ms: number): number => Math.max(TOLERANCE_MS, ms * TOLERANCE_SHARE);
