// Keyframes at fixed times, so that all renditions of a stream have the same segment boundaries.
import { ROUNDING_SECONDS } from "../../media/frame-index.ts";

/** Seconds between keyframes of a stream, as Apple's HLS authoring specification requires (§1.10). */
const KEYFRAME_SECONDS = 2;

/** More frames than between two lines of any grid, so that encoders add no keyframes of their own. */
const NEVER = "9999";

/** libvpx and libaom add no keyframes at new scenes if the shortest distance of keyframes is the longest, too. */
export const ONLY_FORCED: readonly string[] = ["-keyint_min", NEVER];

/** Distance of keyframes in seconds: about two, and a segment is a whole multiple of it. */
export const gridSeconds = (segmentMs: number): number =>
  segmentMs / 1000 / Math.max(1, Math.round(segmentMs / 1000 / KEYFRAME_SECONDS));

/**
 * Puts a keyframe at the first frame of every grid cell. Grid lines are at whole multiples of `seconds` after the first
 * frame (ffmpeg's `t` counts from that frame). Unlike `n_forced`, which counts keyframes, `t` does not fall behind
 * after a gap. `sinceStart`: the run starts this many seconds after the video's first frame, and continues the video's
 * grid.
 */
export function gridArguments(seconds: number, sinceStart = 0): string[] {
  const shift = sinceStart === 0 ? "" : `+${Number(sinceStart.toFixed(9))}`;
  const cell = (time: string): string => `floor((${time}${shift}+${ROUNDING_SECONDS})/${Number(seconds.toFixed(12))})`;
  return ["-force_key_frames", `expr:isnan(prev_forced_t)+gt(${cell("t")},${cell("prev_forced_t")})`, "-g", NEVER];
}
