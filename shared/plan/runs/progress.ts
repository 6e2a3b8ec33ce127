// The final values of ffmpeg's progress, and a part that keeps the progress moving while no output does.
import { seconds } from "../command/opening-arguments.ts";
import type { CommandPart, PlannedRun } from "../command/planned-run.ts";
import type { VideoTrack } from "../source/source-tracks.ts";

/** An output that ends before this share of the longest output does not represent the whole command. */
const MIN_SHARE = 0.9;

/**
 * A part that counts decoded frames up to the last image. It is needed if images come from beyond the end of every
 * video output. Between two images `frame` and `out_time` do not change, for minutes in a long source, and a healthy
 * run looks stalled. The part costs nothing: decoded frames are passed on by reference and dropped.
 */
export function progressTicks(
  videos: readonly CommandPart[],
  images: readonly CommandPart[],
  track: VideoTrack,
): CommandPart | null {
  const endMs = Math.max(...images.map((part) => part.endMs ?? 0));
  if (images.length === 0 || videos.some((part) => reaches(part, endMs))) return null;
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

/**
 * `expectedFrames` belongs to the first part with video, which ffmpeg's `frame` counts, if that part lasts to the end.
 */
export function progressGoal(parts: readonly CommandPart[]): Pick<PlannedRun, "expectedFrames" | "durationMs"> {
  const lengths = parts.map(({ endMs, startMs = 0 }) => endMs && endMs - startMs).filter((length) => length !== null);
  const longestMs = Math.max(0, ...lengths);
  const first = parts.find((part) => part.branches.length > 0);
  return {
    expectedFrames: first && reaches(first, longestMs + (first.startMs ?? 0)) ? first.expectedFrames : null,
    durationMs: lengths.length < parts.length ? null : Math.round(longestMs),
  };
}

const reaches = (part: CommandPart, endMs: number): boolean => part.endMs === null || part.endMs >= endMs * MIN_SHARE;
