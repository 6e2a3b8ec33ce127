// The end of a job by its client's will. Pure: (state, now) → next state.
import { isTerminalJob, moveJob } from "#shared/job-status.ts";
import { record } from "./job-ending.ts";
import { bump, leaseOf, moveOutputs, moveTaskTo, orphanUploads } from "./job-moves.ts";
import type { JobState } from "./job-state.ts";
import { moveTask } from "./task-table.ts";

const CANCELLED = { code: "cancelled", message: "The job was cancelled" } as const;

/** Ends the job now: what is finished stays, all else is aborted. Null when it has ended already. */
export function cancelJob(state: JobState, now: number): JobState | null {
  const status = moveJob(state.status, "abort");
  if (isTerminalJob(state.status) || !status) return null;
  let next = state;
  for (const task of state.tasks) {
    if (!moveTask(task.phase, "abandon")) continue;
    next = moveTaskTo(orphanUploads(next, task.id), task.id, "abandon", { reports: [] });
    if (task.phase === "leased") next = { ...next, revoked: [...next.revoked, leaseOf(state, task)] };
  }
  const all = state.spec.outputs.map(({ index }) => index);
  next = moveOutputs(next, all, "abort", { failure: CANCELLED });
  return record(bump({ ...next, status, completedAt: now }), "job.aborted", null, now);
}
