// How a task ends without a result: it failed, its node was lost or handed it back; another node takes it, or it is given up.
// Pure: (state, what, now) → next state.
import { type ErrorCode, errorTraits, type Failure } from "#shared/errors.ts";
import { slotClassOf } from "#shared/protocol/protocol.ts";
import { countRetry, dropTask, fallBack } from "../chunks/chunk-reports.ts";
import { activeWork, avoiding, isPart, twinOf } from "../chunks/chunk-work.ts";
import {
  bump,
  demand,
  failOutput,
  moveInputTo,
  moveOutputs,
  moveTaskTo,
  orphanUploads,
  patchTask,
  taskOf,
} from "../state/job-moves.ts";
import { type JobState, MAX_FAILURES, MAX_LOSSES, type TaskState } from "../state/job-state.ts";
import { endIfDone, record } from "./job-ending.ts";
import { madeReports, owedOutputs } from "./remaining-outputs.ts";

/** How long a task rests after a failure before it is offered again. */
const FAILURE_PAUSE_MS = 1000;
/**
 * The same after each failure of a source that may be back soon, such as a web server that is restarted: some 40 s in all,
 * beside what each attempt takes. Nothing is held meanwhile.
 */
const SOURCE_PAUSES_MS = [5000, 10_000, 20_000];
/** Grants of a task after which each that is handed back counts as a loss, lest ever new nodes pass it on for ever. */
const FREE_GRANTS = 50;

/** Grants of a task that nodes may give back: at 5 minutes of slow time each, more than a source may take. */
const MAX_GIVEN_BACK = 200;
/** How long a task rests for which a node had no room: other work must end first. */
const NO_ROOM_PAUSE_MS = 15_000;

/**
 * The whole task failed on its node, or the node hands it back (`node_lost`, `node_busy`, `turn_over`), which is nobody's
 * failure.
 */
export function failTask(state: JobState, taskId: string, failure: Failure, now: number): JobState {
  const task = taskOf(state, taskId);
  const isGivenBack = failure.code === "node_busy" || failure.code === "turn_over";
  if (isGivenBack && !isPart(task) && task.attempt <= MAX_GIVEN_BACK) return giveBack(state, task, failure, now);
  // Its node is on its way out: what it still says by the socket must not take the task back.
  if (failure.code === "node_lost") {
    const next = dropOfPair(state, task, false) ?? passOn(state, task, NODE_LOST, now);
    return endIfDone(bump(forgetGrant(next, taskId)), now);
  }
  // A node that encodes otherwise than those of the other chunks does so each time, but has done nothing wrong.
  const isOdd = task.kind === "chunk" && failure.code === "encoder_not_available" && activeWork(state)?.encoder != null;
  const inPair = dropOfPair(state, task, !isOdd);
  if (inPair) return inPair;
  if (isOdd) return endIfDone(forgetGrant(passOn(state, task, failure, now), taskId), now);
  const next = mayRetry(task, failure)
    ? retryTask(state, taskId, task.outputs, now, failure)
    : abandonTask(state, taskId, failure, now);
  return endIfDone(bump(next), now);
}

/**
 * Gives a task to another node. Only one that has had it before counts as a loss, within reason: a film may outlive the
 * restart of every node of a fleet, one after the other.
 */
function passOn(state: JobState, task: TaskState, failure: Failure, now: number): JobState {
  const hadIt = task.avoid.includes(task.grant?.nodeId ?? "");
  if (hadIt || task.attempt > FREE_GRANTS) return loseTask(state, task.id, now, failure);
  const next = patchTask(state, task.id, { avoid: avoidHolder(task), notBefore: now });
  const released = moveTaskTo(next, task.id, "release", { stage: null, fraction: 0 });
  return demand(putBack(released, task, owedOutputs(state, task)), slotClassOf(task));
}

/**
 * Puts a task back that its node has nothing against. One that gave way to others waits at the end of the turn, for the node
 * that has a part of its source; one for which there was no room goes to another node, or comes later.
 */
function giveBack(state: JobState, task: TaskState, { code }: Failure, now: number): JobState {
  const isTurn = code === "turn_over";
  const released = moveTaskTo(orphanUploads(state, task.id), task.id, "release", {
    ...{ grant: null, stage: null, fraction: 0, reports: madeReports(task) },
    ...(isTurn ? { turnAt: now, notBefore: now } : { avoid: avoidHolder(task), notBefore: now + NO_ROOM_PAUSE_MS }),
  });
  const next = isTurn ? { ...released, sourceNode: task.grant?.nodeId ?? released.sourceNode } : released;
  return bump(demand(putBack(next, task, owedOutputs(next, taskOf(next, task.id))), slotClassOf(task)));
}

/** What its node still says is stale from now on. */
const forgetGrant = (state: JobState, taskId: string): JobState => ({
  ...state,
  tasks: state.tasks.map((task) => (task.id === taskId ? { ...task, grant: null } : task)),
});

/** Of two tasks for the same chunk one came to nothing: the other goes on alone. Null when there is no other. */
function dropOfPair(state: JobState, task: TaskState, isFailure: boolean): JobState | null {
  const other = twinOf(state, task);
  if (!other) return null;
  const avoid = avoiding([...other.avoid, ...avoidHolder(task)]);
  const failures = other.failures + (isFailure ? 1 : 0);
  // A node that worked on the one may be all there is for the other, which it was turned away from.
  return demand(patchTask(countRetry(dropTask(state, task)), other.id, { avoid, failures }), slotClassOf(other));
}

export const unjoinable = ({ message }: Failure): string =>
  `Encoded in one piece, because its chunks could not be joined: ${message}`;

/**
 * Whether another attempt may do better. What a storage did not take in spite of the node's retries is not encoded again:
 * the next node would send the same bytes to the same place.
 */
export function mayRetry(task: TaskState, { code }: Failure): boolean {
  const { retryable, blame } = errorTraits(code);
  const most = isAway(code) ? SOURCE_PAUSES_MS.length + 1 : MAX_FAILURES;
  return retryable && blame !== "storage" && task.failures + 1 < most;
}

/** Whether a source's server was not there, or in trouble. */
const isAway = (code: ErrorCode): boolean => code === "input_unreachable" || /^input_http_5\d\d$/.test(code);

const pauseAfter = ({ failures }: TaskState, { code }: Failure): number =>
  (isAway(code) ? SOURCE_PAUSES_MS[failures] : undefined) ?? FAILURE_PAUSE_MS;

/** Puts a task back for the outputs that are still wanted; the grant is void, so late words of its node are stale. */
export function retryTask(
  state: JobState,
  taskId: string,
  outputs: number[],
  now: number,
  failure: Failure | null = null,
): JobState {
  const task = taskOf(state, taskId);
  const next = moveTaskTo(orphanUploads(state, taskId), taskId, "release", {
    ...{ grant: null, stage: null, fraction: 0, reports: madeReports(task), outputs },
    avoid: avoidHolder(task),
    failures: task.failures + 1,
    notBefore: now + (failure ? pauseAfter(task, failure) : FAILURE_PAUSE_MS),
  });
  return demand(putBack(next, task, owedOutputs(next, taskOf(next, taskId))), slotClassOf(task));
}

/** Outputs wait again, but for those of which other tasks go on to make parts. */
const putBack = (state: JobState, task: TaskState, outputs: readonly number[]): JobState =>
  isPart(task) ? countRetry(state) : moveOutputs(state, outputs, "requeue");

/** The nodes to avoid once the one that holds the task has not brought it to its end. */
const avoidHolder = ({ avoid, grant }: TaskState): string[] => avoiding(grant ? [...avoid, grant.nodeId] : avoid);

/** A grant ended without a result: the task goes back, until it was lost too often, as `last` says in the end. */
export function loseTask(state: JobState, taskId: string, now: number, last: Failure = NODE_LOST): JobState {
  const task = taskOf(state, taskId);
  const inPair = dropOfPair(state, task, false);
  if (inPair) return inPair;
  const losses = task.losses + 1;
  const next = patchTask(state, taskId, { losses, avoid: avoidHolder(task), notBefore: now });
  if (losses > MAX_LOSSES) return abandonTask(next, taskId, last, now);
  const released = moveTaskTo(next, taskId, "release", { stage: null, fraction: 0 });
  return demand(putBack(released, task, owedOutputs(state, task)), slotClassOf(task));
}

const NODE_LOST: Failure = {
  code: "node_lost",
  message: "The encoder nodes that worked on this stopped answering, one after the other",
};

/** Gives a task up: its input or its outputs fail. A film that was to be made of chunks is encoded in one piece. */
export function abandonTask(state: JobState, taskId: string, failure: Failure, now: number): JobState {
  const task = taskOf(state, taskId);
  if (isPart(task)) {
    return fallBack(countRetry(state), task.kind === "join" ? unjoinable(failure) : brokenOff(task, failure));
  }
  // What lies in the storage and only waits to be completed is good.
  const reports = madeReports(task);
  let next = moveTaskTo(orphanUploads(state, taskId), taskId, reports.length > 0 ? "publish" : "abandon", { reports });
  if (task.kind === "inspect") return failInput(next, failure, now);
  for (const index of owedOutputs(state, task)) next = failOutput(next, index, failure, now);
  return next;
}

const brokenOff = ({ kind }: TaskState, { message }: Failure): string =>
  `Encoded in one piece, because ${kind === "sound" ? "its sound" : "a chunk"} could not be encoded: ${message}`;

/** Outputs that never began because the input failed say why, but make no events of their own. */
function failInput(state: JobState, failure: Failure, now: number): JobState {
  const next = moveInputTo({ ...state, input: { ...state.input, failure } }, "fail");
  const all = state.spec.outputs.map(({ index }) => index);
  const own: Failure = { code: failure.code, message: `The input failed: ${failure.message}` };
  return record(moveOutputs(next, all, "fail", { failure: own }), "input.failed", null, now);
}
