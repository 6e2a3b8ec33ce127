// How long an output is, and how many frames it has, as far as its source tells.

import type { PlannedVideoTrack } from "../plan-video-track.ts";
import type { Track, VideoTrack } from "./source-tracks.ts";
import type { Trim } from "./trim.ts";

/** Whether the track's length is its own, and so to be relied on. */
export const isExact = ({ lengthFrom }: Pick<Track, "lengthFrom">): boolean =>
  lengthFrom === "packets" || lengthFrom === "stream";

/** The longest track that goes into the file says where on the source's line it ends, unless it is cut before. */
export function lastEnd({ endMs }: Trim, tracks: readonly Track[]): number | null {
  const ends = tracks.map((track) => track.endMs).filter((end) => end !== null);
  const last = ends.length === 0 ? null : Math.max(...ends);
  // A cut beyond an end that nobody knows promises nothing.
  return last === null || endMs === null ? last : Math.min(last, endMs);
}

/** How long such tracks are at least, in ms; null when unknown. */
export function lengthOf(cut: Trim, tracks: readonly Track[]): number | null {
  const endMs = lastEnd(cut, tracks);
  return endMs === null ? null : Math.round(endMs - cut.startMs);
}

/** Pictures that the encoder is given; null when nobody knows. `picture` is null for a copy. */
export function frameCount(
  cut: Trim,
  picture: Pick<PlannedVideoTrack, "timing"> | null,
  track: VideoTrack,
): number | null {
  const isCut = cut.startMs > 0 || (cut.endMs !== null && (track.endMs === null || cut.endMs < track.endMs));
  const keepsFrames = !picture || picture.timing.filters.length === 0;
  if (!isCut && keepsFrames && track.frames !== null) return track.frames;
  const endMs = lastEnd(cut, [track]) ?? cut.endMs;
  // An estimate may be far too short, and a run that makes many more frames than expected is ended.
  if (track.lengthFrom === "estimate" && endMs !== cut.endMs) return null;
  const fps = keepsFrames ? track.fps : picture.timing.fps;
  return fps === null || endMs === null
    ? null
    : Math.round(((endMs - Math.max(cut.startMs, track.startMs)) / 1000) * fps);
}

/** Lengths may differ from what is expected by so much, and by so much of it (borders of frames and of audio frames). */
const TOLERANCE_MS = 500;
const TOLERANCE_SHARE = 0.01;
export const toleranceMs = (ms: number): number => Math.max(TOLERANCE_MS, ms * TOLERANCE_SHARE);
