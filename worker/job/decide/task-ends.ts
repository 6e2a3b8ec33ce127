// Ends of leases without a result: the task failed, or its node was lost or returned it. Then another node gets the
// task, or the task is given up. Pure: (state, input, now) → next state.
import { type ErrorCode, errorTraits, type Failure } from "#shared/errors.ts";
import { slotClassOf } from "#shared/protocol/tasks.ts";
import { countRetry, fallBack, joinLate } from "../chunks/chunk-reports.ts";
import { activeWork, avoiding, isChunkedTask, joinsEarly, otherAttempt } from "../chunks/chunk-work.ts";
import { endAttempt } from "../state/attempt-log.ts";
import {
  bumpVersion,
  dropTask,
  moveOutputs,
  moveTaskTo,
  orphanUploads,
  patchTask,
  requestAdvertising,
  taskOf,
} from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { madeReports, remainingOutputs } from "../state/remaining-outputs.ts";
import { MAX_FAILURES, MAX_LOSSES, type TaskState } from "../state/task-state.ts";
import { bumpIfQueueingChanged } from "../state/work-state.ts";
import { endsInput, failInput } from "./input-failure.ts";
import { endIfDone, failOutput } from "./job-ending.ts";
import { storageRejected } from "./storage-check.ts";
import { isWorkedOn } from "./time-limits.ts";

/** Pause of a task after a failure before it is offered again. */
const FAILURE_PAUSE_MS = 1000;
/**
 * Pauses after failures of a source that may be back soon, such as a web server that restarts: about 40 s in total,
 * plus the duration of the attempts. No slot is used meanwhile.
 */
const SOURCE_PAUSES_MS = [5000, 10_000, 20_000];
/** Number of leases of a task after which each returned lease counts as a loss: returns must not go on forever. */
const FREE_LEASES = 50;
/**
 * Pause of a task after a node had no room for it: other work must end first. It grows to a quarter of the time since
 * the first return. The limit is `start_within_s` (time-limits.ts).
 */
const NO_ROOM_PAUSE_MS = { min: 15_000, max: 5 * 60_000 };

/** Codes with which a node returns a task that it could still do. */
const RETURNING: ReadonlySet<ErrorCode> = new Set(["node_lost", "node_busy"]);

const NODE_LOST: Failure = {
  code: "node_lost",
  message: "The encoder nodes that worked on this stopped responding, one after the other",
};

/** Takes the failure of a whole task, or its return by the node (`node_lost`, `node_busy`), which is no failure. */
export function failTask(before: JobState, taskId: string, failure: Failure, now: number): JobState {
  const task = taskOf(before, taskId);
  const outcome = RETURNING.has(failure.code) ? "returned" : "failed";
  const state = endAttempt(before, task, { outcome, reason: failure.message }, now);
  const mayReturn = !isChunkedTask(task) || task.kind === "join";
  if (failure.code === "node_busy" && mayReturn) {
    // No other node had room for the task either.
    const isLate = joinsEarly(state, task) && task.avoid.includes(task.lease?.nodeId ?? "");
    return isLate ? bumpVersion(abandonTask(state, taskId, failure, now)) : returnTask(state, task, failure, now);
  }
  // The node is shutting down: its last frames must not renew the lease.
  if (failure.code === "node_lost") {
    const next = dropSpeculative(state, task, false) ?? passOn(state, task, NODE_LOST, now);
    return endIfDone(bumpVersion(voidLease(next, taskId)), now);
  }
  // A node whose encoder differs from the encoder of the other chunks fails each time. That is not an error of the
  // node.
  const isOtherEncoder =
    task.kind === "chunk" && failure.code === "encoder_not_available" && activeWork(state)?.encoder != null;
  const dropped = dropSpeculative(state, task, !isOtherEncoder);
  if (dropped) return dropped;
  if (isOtherEncoder) return endIfDone(voidLease(passOn(state, task, failure, now), taskId), now);
  const next = mayRetry(task, failure)
    ? retryTask(state, { taskId, outputs: task.outputs, failure }, now)
    : abandonTask(state, taskId, failure, now);
  return endIfDone(bumpVersion(next), now);
}

/**
 * Passes a task on to another node. It counts as a loss if the node had the task before, or after too many leases. A
 * long task may outlive the restart of every node of a fleet.
 */
function passOn(state: JobState, task: TaskState, failure: Failure, now: number): JobState {
  const hadIt = task.avoid.includes(task.lease?.nodeId ?? "");
  if (hadIt || task.attempt > FREE_LEASES) return loseTask(state, task.id, now, failure);
  return release(patchTask(state, task.id, { avoid: avoidHolder(task), notBefore: now }), task);
}

/** Offers a task again after its node had no room for it: the task goes to another node, or waits. */
function returnTask(state: JobState, task: TaskState, { message }: Failure, now: number): JobState {
  const isOtherWork = state.tasks.some((other) => other.id !== task.id && isWorkedOn(other));
  const since = isOtherWork ? now : (task.refused?.since ?? now);
  const pauseMs = Math.min(Math.max(Math.round((now - since) / 4), NO_ROOM_PAUSE_MS.min), NO_ROOM_PAUSE_MS.max);
  const cleared = patchTask(orphanUploads(state, task.id), task.id, {
    avoid: avoidHolder(task),
    notBefore: now + pauseMs,
    lease: null,
    reports: madeReports(task),
  });
  return bumpVersion(release(cleared, task, { since, reason: message }));
}

/** Voids a lease: late reports of its node are superseded from now on. */
const voidLease = (state: JobState, taskId: string): JobState => ({
  ...state,
  tasks: state.tasks.map((task) => (task.id === taskId ? { ...task, lease: null } : task)),
});

/** Drops an attempt at a chunk that had no result; the other attempt continues. Null if there is no other attempt. */
function dropSpeculative(state: JobState, task: TaskState, isFailure: boolean): JobState | null {
  const other = otherAttempt(state, task);
  if (!other) return null;
  const avoid = avoiding([...other.avoid, ...avoidHolder(task)]);
  const failures = other.failures + (isFailure ? 1 : 0);
  const next = patchTask(countRetry(dropTask(state, task)), other.id, { avoid, failures });
  // The node of the dropped attempt may now claim the other attempt.
  return requestAdvertising(next, slotClassOf(other));
}

export const joinFailedReason = ({ message }: Failure): string =>
  `Encoded in one piece, because its chunks could not be joined: ${message}`;

const chunkFailedReason = ({ kind }: TaskState, { message }: Failure): string => {
  const problem =
    kind === "texts"
      ? "its text could not be read"
      : `${kind === "audio" ? "its audio" : "a chunk"} could not be encoded`;
  return `Encoded in one piece, because ${problem}: ${message}`;
};

/**
 * True if another attempt may succeed. After an error of the storage, which has outlasted the node's own retries,
 * nothing is encoded again: the next node would send the same bytes to the same place. Before the encode, another node
 * may have the folder of the storage mounted.
 */
export function mayRetry(task: TaskState, { code }: Failure): boolean {
  const { retry, blame } = errorTraits(code);
  const most = isSourceDown(code) ? SOURCE_PAUSES_MS.length + 1 : MAX_FAILURES;
  const mayMove = blame !== "storage" || task.kind === "inspect";
  return retry === "now" && mayMove && task.failures + 1 < most;
}

/** True if the source's server was unreachable or failed. */
const isSourceDown = (code: ErrorCode): boolean => code === "input_unreachable" || /^input_http_5\d\d$/.test(code);

const pauseAfter = ({ failures }: TaskState, failure: Failure | null): number =>
  (failure && isSourceDown(failure.code) ? SOURCE_PAUSES_MS[failures] : undefined) ?? FAILURE_PAUSE_MS;

/** True if the node itself failed, and not its input. */
const isNodesFault = (code: ErrorCode): boolean =>
  errorTraits(code).blame === "node" && code !== "encoder_not_available" && code !== "node_lost";

type TaskRetry = { readonly taskId: string; readonly outputs: number[]; readonly failure: Failure | null };

/**
 * Offers a failed task again for the outputs that are still needed. Its lease is void: late reports of its node are
 * superseded.
 */
export function retryTask(state: JobState, { taskId, outputs, failure }: TaskRetry, now: number): JobState {
  const task = taskOf(state, taskId);
  const cleared = patchTask(orphanUploads(state, taskId), taskId, {
    lease: null,
    reports: madeReports(task),
    outputs,
    avoid: avoidHolder(task),
    blamed:
      failure && isNodesFault(failure.code) && task.lease ? avoiding([...task.blamed, task.lease.nodeId]) : task.blamed,
    failures: task.failures + 1,
    notBefore: now + pauseAfter(task, failure),
  });
  return release(cleared, task);
}

/** Moves a task back to pending. Its outputs move back, too, unless other tasks continue to make chunks of them. */
function release(state: JobState, { id }: TaskState, refused: TaskState["refused"] = null): JobState {
  const next = moveTaskTo(state, id, "release", { stage: null, fraction: 0, rate: null, live: [], refused });
  const task = taskOf(next, id);
  const waiting = isChunkedTask(task) ? countRetry(next) : moveOutputs(next, remainingOutputs(next, task), "requeue");
  return bumpIfQueueingChanged(requestAdvertising(waiting, slotClassOf(task)));
}

/** The nodes to avoid, including the node that has the task now. */
const avoidHolder = ({ avoid, lease }: TaskState): string[] => avoiding(lease ? [...avoid, lease.nodeId] : avoid);

/**
 * Handles a lease that ended without a result. The task is offered again until it was lost too often; then it fails
 * with `last`.
 */
export function loseTask(state: JobState, taskId: string, now: number, last: Failure = NODE_LOST): JobState {
  const task = taskOf(state, taskId);
  const dropped = dropSpeculative(state, task, false);
  if (dropped) return dropped;
  const losses = task.losses + 1;
  const next = patchTask(state, taskId, { losses, avoid: avoidHolder(task), notBefore: now });
  return losses > MAX_LOSSES ? abandonTask(next, taskId, last, now) : release(next, task);
}

/**
 * Gives a task up: its input or its outputs fail. Outputs that were planned as chunks are encoded in one piece, and
 * chunks that could not be joined early are joined late.
 */
export function abandonTask(state: JobState, taskId: string, failure: Failure, now: number): JobState {
  const task = taskOf(state, taskId);
  if (joinsEarly(state, task)) return countRetry(joinLate(state, task));
  if (isChunkedTask(task)) {
    const reason = task.kind === "join" ? joinFailedReason(failure) : chunkFailedReason(task, failure);
    return fallBack(countRetry(state), reason);
  }
  // Outputs that are in the storage and only wait for completion are good.
  const reports = madeReports(task);
  const move = reports.length > 0 ? "complete" : "abandon";
  let next = moveTaskTo(orphanUploads(state, taskId), taskId, move, { reports });
  if (task.kind === "inspect" && errorTraits(failure.code).blame === "storage") {
    return storageRejected(next, failure, now);
  }
  if (task.kind === "inspect" || endsInput(failure)) return failInput(next, failure, now);
  for (const index of remainingOutputs(state, task)) next = failOutput(next, index, failure, now);
  return next;
}
