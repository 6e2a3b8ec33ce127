// What makes ffmpeg's progress move where the outputs themselves would not.

import type { VideoTrack } from "../source/source-tracks.ts";
import type { CommandPart } from "./output-plan.ts";

/** An output that ends before this share of the longest one is no measure of the whole. */
const WHOLE_SHARE = 0.9;

/**
 * Between two pictures `frame` and `out_time` stand still, for minutes in a long film, and a healthy run looks stalled.
 * Where pictures are needed from beyond the end of every film output, this part counts decoded frames up to the last
 * of them: decoded frames are handed on by reference and thrown away, which costs nothing.
 */
export function progressTicks(
  films: readonly CommandPart[],
  images: readonly CommandPart[],
  track: VideoTrack,
): CommandPart | null {
  const endMs = Math.max(...images.map((part) => part.endMs ?? 0));
  if (images.length === 0 || films.some((part) => reaches(part, endMs))) return null;
  const perMs = track.fps === null ? null : track.fps / 1000;
  return {
    branches: [{ label: "ticks", filters: ["null"] }],
    argv: [
      ...["-map", "[ticks]", "-c:v", "wrapped_avframe", "-fps_mode", "vfr", "-enc_time_base", "1/90000"],
      ...["-t", seconds(endMs), "-f", "null", "-"],
    ],
    expectedFrames: perMs === null ? null : Math.round((endMs - track.startMs) * perMs),
    endMs,
  };
}

/** `expectedFrames` is of the first part with a picture, which ffmpeg's `frame` counts, if that runs to the end. */
export function progressGoal(parts: readonly CommandPart[]): {
  expectedFrames: number | null;
  durationMs: number | null;
} {
  const ends = parts.map(({ endMs, startMs = 0 }) => endMs && endMs - startMs).filter((end) => end !== null);
  const wholeMs = Math.max(0, ...ends);
  const first = parts.find((part) => part.branches.length > 0);
  return {
    expectedFrames: first && reaches(first, wholeMs + (first.startMs ?? 0)) ? first.expectedFrames : null,
    durationMs: ends.length < parts.length ? null : Math.round(wholeMs),
  };
}

/** A length in ms as ffmpeg's `-t` takes it. */
export const seconds = (ms: number): string => String(Number((ms / 1000).toFixed(6)));

const reaches = (part: CommandPart, endMs: number): boolean => part.endMs === null || part.endMs >= endMs * WHOLE_SHARE;
