// What a client can do to a job: end it, and begin it anew. Pure: (state, now) → next state.
import { isTerminalJob, moveJob } from "#shared/job-status.ts";
import { record } from "./job-ending.ts";
import { bump, demand, leaseOf, moveInputTo, moveOutputs, moveTaskTo, orphanUploads, patchTask } from "./job-moves.ts";
import { checkOf, type JobState, newTask } from "./job-state.ts";
import { moveTask } from "./task-table.ts";

const CANCELLED = { code: "cancelled", message: "The job was cancelled" } as const;

/** Ends the job now: what is finished stays, all else is aborted. Null when it has ended already. */
export function cancelJob(state: JobState, now: number): JobState | null {
  const status = moveJob(state.status, "abort");
  if (isTerminalJob(state.status) || !status) return null;
  let next = state;
  for (const task of state.tasks) {
    if (!moveTask(task.phase, "abandon")) continue;
    next = orphanUploads(patchTask(next, task.id, { reports: [] }), task.id);
    next = moveTaskTo(next, task.id, "abandon");
    if (task.phase === "leased") next = { ...next, revoked: [...next.revoked, leaseOf(state, task)] };
  }
  // Chunks are of no use any more: a retry of a cancelled job begins anew.
  if (next.chunks) next = { ...next, chunks: { ...next.chunks, isActive: false } };
  const all = state.spec.outputs.map(({ index }) => index);
  next = moveOutputs(next, all, "abort", { failure: CANCELLED });
  return record(bump({ ...next, status, completedAt: now }), "job.aborted", null, now);
}

/**
 * Begins an ended job anew for what it did not finish: finished and skipped outputs stay as they are, the source is
 * inspected again, and chunks that are still there are used again. Null when the job runs, has nothing left to do, or has lost its finished outputs with its storage.
 */
export function retryJob(state: JobState, now: number): JobState | null {
  const status = moveJob(state.status, "retry");
  if (!status || state.storageCleared) return null;
  const round = state.round + 1;
  const all = state.spec.outputs.map(({ index }) => index);
  const next = moveOutputs(state, all, "retry", { failure: null, files: [], probe: null });
  const input = { ...moveInputTo(next, "retry").input, failure: null };
  const tasks = [newTask(round, "inspect", [])];
  const chunks = state.chunks && { ...state.chunks, isActive: false };
  const begun = { ...next, status, round, input, tasks, chunks, ultrafast: null, completedAt: null, shownPercent: 0 };
  const checked = { ...begun, storageCheck: checkOf(state.spec, now) };
  return demand(bump(checked), "inspect");
}
