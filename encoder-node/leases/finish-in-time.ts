// Predicts if work can end before its machine is taken away.
import type { TaskStage } from "#shared/protocol/frames.ts";

/** Progress of a task: its stage, the completed share of the stage, and the start of the stage (ms since 1970). */
export type WorkDone = { readonly stage: TaskStage; readonly fraction: number; readonly since: number };

/** With less progress, the speed is unknown. */
const MIN_FRACTION = 0.01;
/** The share of the time in which encoding must end, so that the result can be uploaded. */
const ENCODING_SHARE = 0.8;

/**
 * True if a task will end before `deadline` at its present speed. A task that still fetches its source will not: all
 * its work is ahead. A task that uploads may, and its outputs are reported separately.
 */
export function canFinish({ stage, fraction, since }: WorkDone, deadline: number, now: number): boolean {
  if (stage === "uploading" || stage === "holding") return now < deadline;
  if (stage === "transferring" || fraction < MIN_FRACTION) return false;
  const leftMs = ((now - since) * (1 - fraction)) / fraction;
  return leftMs <= (deadline - now) * ENCODING_SHARE;
}
