// Cancels, prioritizes and restarts a job at its client's request. Pure: (state, now) → next state.
import { isTerminalJob, moveJob } from "#shared/job/job-status.ts";
import { changedTags, MAX_TAGS, type TagChanges } from "#shared/job/tags.ts";
import type { TraceContext } from "#shared/network/trace-context.ts";
import { abandonTasks, bumpVersion, moveInputTo, moveOutputs, requestAdvertising } from "../state/job-moves.ts";
import { type JobState, newStorageCheck } from "../state/job-state.ts";
import { newTask } from "../state/task-state.ts";
import { roundMs } from "../state/used.ts";
import { recordEvent } from "./job-ending.ts";

const CANCELLED = { code: "cancelled", message: "The job was cancelled" } as const;

/** Ends the job now: finished outputs are kept, all others are aborted. Null when the job has ended already. */
export function cancelJob(state: JobState, now: number): JobState | null {
  const status = moveJob(state.status, "abort");
  if (isTerminalJob(state.status) || !status) return null;
  const all = state.spec.outputs.map(({ index }) => index);
  const next = moveOutputs(abandonTasks(state), all, "abort", { failure: CANCELLED });
  return recordEvent(bumpVersion({ ...next, status, completedAt: now }), "job.aborted", null, now);
}

/**
 * Changes the priority of the job's work from now on, including work that is advertised already. Null if the job has
 * ended.
 */
export function prioritizeJob(state: JobState, priority: number): JobState | null {
  if (isTerminalJob(state.status)) return null;
  const spec = { ...state.spec, settings: { ...state.spec.settings, priority } };
  return requestAdvertising(requestAdvertising({ ...state, spec }, "inspect"), "encode");
}

/** Changes the job's tags, also after its end. Null if the job would have too many tags. */
export function tagJob(state: JobState, changes: TagChanges): JobState | null {
  const { tags: before, ...spec } = state.spec;
  const tags = changedTags(before, changes);
  if (Object.keys(tags ?? {}).length > MAX_TAGS) return null;
  return bumpVersion({ ...state, spec: { ...spec, ...(tags ? { tags } : {}) } });
}

/**
 * Restarts an ended job for its unfinished outputs. Finished and skipped outputs stay as they are, the source is
 * inspected again, and chunks that still exist are used again. Null if the job runs, has nothing left to do, or its
 * finished outputs were removed from the service's own storage. Without `trace` the job keeps its trace.
 */
export function retryJob(state: JobState, now: number, trace: TraceContext | null = null): JobState | null {
  const status = moveJob(state.status, "retry");
  if (!status || state.storageCleared) return null;
  const round = state.round + 1;
  const all = state.spec.outputs.map(({ index }) => index);
  const { pace: _, ...unpaced } = state;
  const next = moveOutputs(unpaced, all, "retry", { failure: null, images: null, files: [], probe: null });
  const input = { ...moveInputTo(next, "retry").input, failure: null };
  const tasks = [newTask({ kind: "inspect", round, outputs: [] })];
  const chunks = state.chunks && { ...state.chunks, isActive: false };
  const restarted: JobState = {
    ...next,
    ...(trace ? { spec: { ...state.spec, trace } } : {}),
    status,
    round,
    input,
    tasks,
    chunks,
    ultrafast: null,
    completedAt: null,
    startedAt: now,
    runningSince: null,
    waitingFor: {},
    used: usedWithEnd(state, now),
    shownPercent: 0,
    storageCheck: newStorageCheck(state.spec, now),
  };
  return requestAdvertising(bumpVersion(restarted), "inspect");
}

/** The usage, including the end of this round. */
function usedWithEnd(state: JobState, now: number): JobState["used"] {
  const { used, status } = state;
  const failed = used.failed + (status === "job.failed" ? 1 : 0);
  const aborted = used.aborted + (status === "job.aborted" ? 1 : 0);
  return { ...used, failed, aborted, lastedMs: used.lastedMs + roundMs(state, now) };
}
