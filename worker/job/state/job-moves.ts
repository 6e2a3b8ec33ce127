// Small changes of a job's state: decisions are made of them. A table checks every change of a phase.
import { type LeaseId, leaseId } from "#shared/ids.ts";
import { type InputMove, moveInput } from "#shared/job/job-status.ts";
import { moveOutput, type OutputMove } from "#shared/job/output-status.ts";
import { type SlotClass, slotClassOf } from "#shared/protocol/tasks.ts";
import type { JobState, OutputState } from "./job-state.ts";
import { madeReports } from "./remaining-outputs.ts";
import type { SignedUpload, TaskState } from "./task-state.ts";
import { moveTask, type TaskMove } from "./task-table.ts";

export const leaseIdOf = (state: JobState, task: TaskState): LeaseId => leaseId(state.spec.id, task.id, task.attempt);

/** The task with this id. Throws if there is none. */
export function taskOf(state: JobState, taskId: string): TaskState {
  const task = state.tasks.find((candidate) => candidate.id === taskId);
  if (!task) throw new Error(`The job has no task ${taskId}`);
  return task;
}

export function patchTask(state: JobState, taskId: string, patch: Partial<TaskState>): JobState {
  return { ...state, tasks: state.tasks.map((task) => (task.id === taskId ? { ...task, ...patch } : task)) };
}

/** Moves a task. Throws if its table has no such move, which is a bug. */
export function moveTaskTo(state: JobState, taskId: string, move: TaskMove, patch: Partial<TaskState> = {}): JobState {
  const { phase: from } = taskOf(state, taskId);
  const phase = moveTask(from, move);
  if (!phase) throw new Error(`Task ${taskId} cannot ${move} from ${from}`);
  return patchTask(state, taskId, { ...patch, phase });
}

/** Moves outputs. An output that has ended stays as it is, because its table has no such move. */
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
  // Only changed parts of the state are written to disk.
  return hasMoved ? { ...state, outputs } : state;
}

export function moveInputTo(state: JobState, move: InputMove): JobState {
  const status = moveInput(state.input.status, move);
  return status ? { ...state, input: { ...state.input, status } } : state;
}

/** Marks a change that the index must have. */
export const bumpVersion = (state: JobState): JobState => ({ ...state, version: state.version + 1 });

/** Marks the runnable tasks of a class as changed since they were last advertised to the hub. */
export const requestAdvertising = (state: JobState, slotClass: SlotClass): JobState => ({
  ...state,
  advertisedAt: { ...state.advertisedAt, [slotClass]: null },
  advertisements: { ...state.advertisements, [slotClass]: 0 },
});

export const addTask = (state: JobState, task: TaskState): JobState =>
  requestAdvertising({ ...state, tasks: [...state.tasks, task] }, slotClassOf(task));

/** Notes that the node of a lease has the source: tasks are offered to this node first. */
export const sourceAt = (state: JobState, lease: TaskState["lease"]): JobState => ({
  ...state,
  sourceNode: lease?.nodeId ?? null,
});

export const removeTask = (state: JobState, id: string): JobState => ({
  ...state,
  tasks: state.tasks.filter((task) => task.id !== id),
});

/** Removes a task that is no longer needed; a node that works on it is notified. */
export function dropTask(state: JobState, task: TaskState): JobState {
  return removeTask(revokeLease(orphanUploads(state, task.id), task), task.id);
}

function revokeLease(state: JobState, task: TaskState): JobState {
  if (task.phase !== "leased") return state;
  return { ...state, revoked: [...state.revoked, leaseIdOf(state, task)] };
}

/**
 * Moves a task's multipart uploads to the orphans, which are aborted, except uploads of outputs that are done. Uploads
 * of outputs that were reported as made stay with the task: they wait for completion.
 */
export function orphanUploads(state: JobState, taskId: string): JobState {
  const task = taskOf(state, taskId);
  const waiting = new Set(madeReports(task).map(({ output }) => output));
  const entries = Object.entries(task.uploads);
  const isKept = ([, { output }]: [string, SignedUpload]): boolean => waiting.has(output);
  const keptEntries = entries.filter(isKept);
  if (keptEntries.length === entries.length) return state;
  const orphans = entries.flatMap((entry) => {
    const [, { output, objectName, uploadId }] = entry;
    const isDone = state.outputs[output]?.phase === "done";
    return uploadId === null || isDone || isKept(entry) ? [] : [{ objectName, uploadId }];
  });
  const uploads = Object.fromEntries(keptEntries);
  return patchTask({ ...state, orphans: [...state.orphans, ...orphans] }, taskId, { uploads });
}

/**
 * Ends all tasks, with their uploads and leases. The work on chunks ends too: a retry of the job plans it again. With
 * `keepMade`, outputs whose uploads only wait for completion are still completed.
 */
export function abandonTasks(state: JobState, { keepMade = false } = {}): JobState {
  let next = state;
  for (const task of state.tasks) {
    if (!moveTask(task.phase, "abandon")) continue;
    const reports = keepMade ? madeReports(task) : [];
    next = orphanUploads(patchTask(next, task.id, { reports }), task.id);
    if (reports.length === 0) next = moveTaskTo(next, task.id, "abandon");
    else if (task.phase !== "completing") next = moveTaskTo(next, task.id, "complete");
    next = revokeLease(next, task);
  }
  return next.chunks ? { ...next, chunks: { ...next.chunks, isActive: false } } : next;
}
