// A part of a command that notes how far the source's video could be decoded, for images after that.
import type { Branch } from "../command/filter-graph.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { CommandPart } from "../command/planned-run.ts";

/** File with the times, in the folder of the run. */
export const DECODED_TIMES = "decoded-times.txt";

/** Distance of the times, in ms. */
export const DECODED_STEP_MS = 100;

/**
 * Writes a line for each tenth of a second. The last line is for the last decoded frame, or for the first frame after
 * `untilMs`. `fps` fills the time up to a frame when that frame comes, so a frame that is shown for long does not end
 * the list. Without `eof_action=pass` a single frame would leave no line.
 */
export const decodedTimes = (untilMs: number): CommandPart => ({
  branches: [decodedTimesBranch("times", untilMs)],
  argv: decodedTimesArguments("times"),
  expectedFrames: null,
  endMs: untilMs,
});

export const decodedTimesBranch = (label: string, untilMs: number): Branch => ({
  label,
  filters: [
    `fps=${1000 / DECODED_STEP_MS}:round=down:eof_action=pass`,
    `trim=end=${seconds(untilMs + DECODED_STEP_MS)}`,
  ],
});

export const decodedTimesArguments = (label: string): string[] => [
  ...["-map", `[${label}]`, "-c:v", "wrapped_avframe", "-fps_mode", "passthrough", "-enc_time_base", "1/1000"],
  ...["-f", "framecrc", DECODED_TIMES],
];

/** Last time in lines of such a file, in ms; null if there is none. */
export function lastDecodedMs(lines: string): number | null {
  const times = [...lines.matchAll(/^0, +-?\d+, +(-?\d+), /gm)];
  return times.length === 0 ? null : Number(times.at(-1)?.[1]);
}
