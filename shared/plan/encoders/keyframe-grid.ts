// Keyframes at fixed times, so that all renditions of a film can be cut at the same places.
import { ROUNDING_SECONDS } from "../../media/frame-index.ts";

/** Seconds between keyframes of a stream: what Apple's HLS authoring specification asks for (§1.10). */
const KEYFRAME_SECONDS = 2;

/** More frames than lie between two lines of any grid: no encoder adds a keyframe of its own accord. */
const NEVER = "9999";

/** The distance of keyframes, in seconds: about two, a whole number of times in a segment. */
export const gridSeconds = (segmentMs: number): number =>
  segmentMs / 1000 / Math.max(1, Math.round(segmentMs / 1000 / KEYFRAME_SECONDS));

/**
 * A keyframe at the first frame of every cell of the grid, whose lines lie at whole multiples of `seconds` after the first
 * frame of all (ffmpeg's `t` counts from that). Unlike `n_forced`, which counts, this does not fall behind after a gap in the picture.
 * `sinceStart` is for a run that begins so many seconds after the film's first frame: it continues the film's grid.
 */
export function gridArguments(seconds: number, sinceStart = 0): string[] {
  const shift = sinceStart === 0 ? "" : `+${Number(sinceStart.toFixed(9))}`;
  const cell = (time: string): string => `floor((${time}${shift}+${ROUNDING_SECONDS})/${Number(seconds.toFixed(12))})`;
  return ["-force_key_frames", `expr:isnan(prev_forced_t)+gt(${cell("t")},${cell("prev_forced_t")})`, "-g", NEVER];
}
