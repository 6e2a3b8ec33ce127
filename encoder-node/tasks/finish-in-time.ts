// Whether work can end before its machine is taken away.
import type { TaskStage } from "#shared/protocol/frames.ts";

/** How far a task is: its stage, the completed share of it, and since when it is in this stage (ms since 1970). */
export type WorkDone = { readonly stage: TaskStage; readonly fraction: number; readonly since: number };

/** Less progress is no measure of speed. */
const MIN_FRACTION = 0.01;
/** The share of the time in which encoding must end, so that the result can be uploaded. */
const ENCODING_SHARE = 0.8;

/**
 * True if a task will end until `deadline` at its present speed. What still fetches its source will not: all its work
 * is ahead. What uploads may, and its outputs are reported one by one.
 */
export function canFinish({ stage, fraction, since }: WorkDone, deadline: number, now: number): boolean {
  if (stage === "uploading") return now < deadline;
  if (stage === "transferring" || fraction < MIN_FRACTION) return false;
  const leftMs = ((now - since) * (1 - fraction)) / fraction;
  return leftMs <= (deadline - now) * ENCODING_SHARE;
}
