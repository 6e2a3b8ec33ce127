// The small moves that a job's decisions are made of. Every change of a phase goes through its table.
import type { Failure } from "#shared/errors.ts";
import { type LeaseId, leaseId } from "#shared/ids.ts";
import { type InputMove, moveInput } from "#shared/job/job-status.ts";
import { moveOutput, type OutputMove } from "#shared/job/output-status.ts";
import { type SlotClass, slotClassOf } from "#shared/protocol/protocol.ts";
import { record } from "../decide/job-ending.ts";
import { madeReports } from "../decide/remaining-outputs.ts";
import { fileOfKey, objectOf } from "../uploads/job-files.ts";
import type { GrantedUpload, JobState, OutputState, TaskState } from "./job-state.ts";
import { moveTask, type TaskMove } from "./task-table.ts";

export const leaseOf = (state: JobState, task: TaskState): LeaseId => leaseId(state.spec.id, task.id, task.attempt);

export function taskOf(state: JobState, taskId: string): TaskState {
  const task = state.tasks.find((candidate) => candidate.id === taskId);
  if (!task) throw new Error(`No task ${taskId}`);
  return task;
}

export function patchTask(state: JobState, taskId: string, patch: Partial<TaskState>): JobState {
  return { ...state, tasks: state.tasks.map((task) => (task.id === taskId ? { ...task, ...patch } : task)) };
}

/** Moves a task; a move that its table lacks is a mistake of ours. */
export function moveTaskTo(state: JobState, taskId: string, move: TaskMove, patch: Partial<TaskState> = {}): JobState {
  const { phase: from } = taskOf(state, taskId);
  const phase = moveTask(from, move);
  if (!phase) throw new Error(`Task ${taskId} cannot ${move} from ${from}`);
  return patchTask(state, taskId, { ...patch, phase });
}

/** Moves outputs; one that cannot make the move (it has ended) stays as it is. */
export function moveOutputs(
  state: JobState,
  indices: readonly number[],
  move: OutputMove,
  patch: Partial<OutputState> = {},
): JobState {
  let hasMoved = false;
  const outputs = state.outputs.map((output, index) => {
    const phase = indices.includes(index) ? moveOutput(output.phase, move) : null;
    hasMoved ||= phase !== null;
    return phase ? { ...output, ...patch, phase } : output;
  });
  // What did not change is not saved anew.
  return hasMoved ? { ...state, outputs } : state;
}

export function moveInputTo(state: JobState, move: InputMove): JobState {
  const status = moveInput(state.input.status, move);
  return status ? { ...state, input: { ...state.input, status } } : state;
}

/** Ends one output as failed and says so. */
export function failOutput(state: JobState, index: number, failure: Failure, now: number): JobState {
  return record(moveOutputs(state, [index], "fail", { failure }), "output.failed", index, now);
}

/** Marks a change that the index must learn of. */
export const bump = (state: JobState): JobState => ({ ...state, version: state.version + 1 });

/** Marks the hub's knowledge of a class's runnable tasks as out of date. */
export const demand = (state: JobState, slotClass: SlotClass): JobState => ({
  ...state,
  advertisedAt: { ...state.advertisedAt, [slotClass]: null },
});

export const addTask = (state: JobState, task: TaskState): JobState =>
  demand({ ...state, tasks: [...state.tasks, task] }, slotClassOf(task));

/**
 * Sets a task's multipart uploads aside to be aborted, except those of outputs that were made. Uploads that wait to be
 * completed stay with the task.
 */
export function orphanUploads(state: JobState, taskId: string): JobState {
  const task = taskOf(state, taskId);
  const waiting = new Set(madeReports(task).map(({ output }) => output));
  const [kept, others] = [new Map<string, GrantedUpload>(), new Map<string, GrantedUpload>()];
  for (const [key, upload] of Object.entries(task.uploads)) {
    (waiting.has(fileOfKey(key).output) ? kept : others).set(key, upload);
  }
  if (others.size === 0) return state;
  const orphans = [...others].flatMap(([key, { uploadId }]) => {
    const file = fileOfKey(key);
    const made = state.outputs[file.output]?.phase === "done";
    return uploadId === null || made ? [] : [{ objectName: objectOf(state, file), uploadId }];
  });
  return patchTask({ ...state, orphans: [...state.orphans, ...orphans] }, taskId, {
    uploads: Object.fromEntries(kept),
  });
}

/**
 * Ends all work that is under way, with its uploads and leases. Chunks are of no use any more: a retry of the job begins
 * anew.
 */
export function abandonTasks(state: JobState): JobState {
  let next = state;
  for (const task of state.tasks) {
    if (!moveTask(task.phase, "abandon")) continue;
    next = orphanUploads(patchTask(next, task.id, { reports: [] }), task.id);
    next = moveTaskTo(next, task.id, "abandon");
    if (task.phase === "leased") next = { ...next, revoked: [...next.revoked, leaseOf(state, task)] };
  }
  return next.chunks ? { ...next, chunks: { ...next.chunks, isActive: false } } : next;
}
