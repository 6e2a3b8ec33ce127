// Work state of a job: it waits for a node, is worked on, or stores its last results.
import { isTerminalJob, type WorkState } from "#shared/job/job-status.ts";
import { bumpVersion } from "./job-moves.ts";
import type { JobState } from "./job-state.ts";
import type { TaskState } from "./task-state.ts";

/** The work of an unfinished job; null after its end. A node that waits for the chunks of other nodes does no work. */
export function workStateOf({ status, tasks }: Pick<JobState, "status" | "tasks">): WorkState | null {
  if (isTerminalJob(status)) return null;
  const active = tasks.filter(({ phase, lease }) => phase === "leased" && lease?.waitedUntil !== null);
  if (active.some(({ stage }) => !isStoring(stage))) return "running";
  return active.length > 0 || tasks.some(isCompleting) ? "storing" : "queued";
}

/** True for the stages of a task after its outputs are encoded. */
export const isStoring = (stage: TaskState["stage"]): boolean => stage === "uploading" || stage === "holding";

export const isQueued = (state: Pick<JobState, "status" | "tasks">): boolean => workStateOf(state) === "queued";

/**
 * Marks a job that has started or stopped waiting as changed for the index. Otherwise a list would show it as `queued`
 * for hours while a node encodes. Waiting between two chunks is too short to count.
 */
export const bumpIfQueueingChanged = (state: JobState): JobState =>
  isQueued(state) === state.isIndexedQueued ? state : bumpVersion(state);

const isCompleting = ({ phase }: TaskState): boolean => phase === "completing";
