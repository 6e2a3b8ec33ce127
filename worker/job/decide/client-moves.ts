// What a client can do to a job: end it, and begin it anew. Pure: (state, now) → next state.
import { isTerminalJob, moveJob } from "#shared/job/job-status.ts";
import { abandonTasks, bump, demand, moveInputTo, moveOutputs } from "../state/job-moves.ts";
import { checkOf, type JobState, newTask } from "../state/job-state.ts";
import { record } from "./job-ending.ts";

const CANCELLED = { code: "cancelled", message: "The job was cancelled" } as const;

/** Ends the job now: what is finished stays, all else is aborted. Null when it has ended already. */
export function cancelJob(state: JobState, now: number): JobState | null {
  const status = moveJob(state.status, "abort");
  if (isTerminalJob(state.status) || !status) return null;
  const all = state.spec.outputs.map(({ index }) => index);
  const next = moveOutputs(abandonTasks(state), all, "abort", { failure: CANCELLED });
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
