// What planning ends in: calls of ffmpeg, and what each leaves behind.
import type { PlannedOutput } from "./output-plan.ts";

/** One call of ffmpeg. */
export type PlannedRun = {
  /** It runs in a folder of its command's own, empty at first: output names are relative to that. */
  readonly argv: readonly string[];
  /** What `frame` of `-progress` counts up to; null when unknown, or when other outputs go on long after that. */
  readonly expectedFrames: number | null;
  /** What `out_time` of `-progress` runs to: the end of the longest output; null when unknown. */
  readonly durationMs: number | null;
};

/** Calls one after the other in one folder (two passes are two), and the outputs that are there after the last. */
export type PlannedCommand = {
  readonly runs: readonly PlannedRun[];
  /** In the order of the command, which need not be that of the request. */
  readonly outputs: readonly PlannedOutput[];
};
