// What a node's reports do to a job. Pure: (state, report, now) → next state.

import { assertNever, errorTraits, type Failure } from "#shared/errors.ts";
import { type FileName, type OutputReport, slotClassOf, type TaskResult } from "#shared/protocol.ts";
import { boundedProbes } from "./bounded-probes.ts";
import {
  chunkProblem,
  countRetry,
  dropTask,
  fallBack,
  seamProblem,
  soundProblem,
  takeChunk,
  takeSound,
} from "./chunk-reports.ts";
import { activeWork, avoiding, isPart, twinOf } from "./chunk-work.ts";
import { completeInspect } from "./inspected.ts";
import { endIfDone, record } from "./job-ending.ts";
import { type NamedFile, neededFiles, objectOf, uploadKey } from "./job-files.ts";
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
} from "./job-moves.ts";
import { type GrantedUpload, type JobState, MAX_FAILURES, MAX_LOSSES, type TaskState } from "./job-state.ts";

/** How long a task rests after a failure before it is offered again. */
const FAILURE_PAUSE_MS = 1000;
/** Grants of a task after which each that is handed back counts as a loss, lest ever new nodes pass it on for ever. */
const FREE_GRANTS = 50;

/** Remembers an upload that a grant is given, before the node learns of it; one of another size that it replaces is an orphan. */
export function recordUpload(state: JobState, taskId: string, file: NamedFile, upload: GrantedUpload): JobState {
  const { uploads } = taskOf(state, taskId);
  const replaced = uploads[uploadKey(file)]?.uploadId;
  const orphans = replaced
    ? [...state.orphans, { objectName: objectOf(state, file), uploadId: replaced }]
    : state.orphans;
  return patchTask({ ...state, orphans }, taskId, { uploads: { ...uploads, [uploadKey(file)]: upload } });
}

/**
 * A node finished its task. Outputs with multipart uploads wait in `publishing` until the storage completed them.
 * The result must be of the task's kind. `slots` are the encodes that all nodes can do at the same time.
 */
export function completeTask(state: JobState, taskId: string, result: TaskResult, now: number, slots = 1): JobState {
  const task = taskOf(state, taskId);
  switch (result.kind) {
    case "inspect":
      return completeInspect(state, result.probe, { task, chunking: result.chunking, slots }, now);
    case "chunk": {
      const problem = chunkProblem(state, task, result);
      return problem ? failTask(state, taskId, problem, now) : takeChunk(state, task, result, now);
    }
    case "sound": {
      const problem = soundProblem(task, result);
      return problem ? failTask(state, taskId, problem, now) : moveTaskTo(takeSound(state, result), taskId, "finish");
    }
    case "join": {
      const problem = seamProblem(result.seams);
      if (problem) return failTask(state, taskId, problem, now);
      const { chunks } = state;
      const joined = chunks ? { ...state, chunks: { ...chunks, seams: result.seams } } : state;
      return completeOutputs(joined, task, result.outputs, now);
    }
    case "encode":
      return completeOutputs(state, task, result.outputs, now);
    default:
      return assertNever(result);
  }
}

function completeOutputs(state: JobState, task: TaskState, reports: OutputReport[], now: number): JobState {
  const published = moveTaskTo(state, task.id, "publish", { reports });
  const multipart = Object.values(task.uploads).some((upload) => upload.uploadId !== null);
  return multipart ? published : settleOutputs(published, task.id, reports, now);
}

/** Ends each output by its report; those that another attempt may save go back to be encoded again. */
export function settleOutputs(
  state: JobState,
  taskId: string,
  reports: readonly OutputReport[],
  now: number,
): JobState {
  const task = taskOf(state, taskId);
  const again: number[] = [];
  let unjoined: Failure | null = null;
  let next = state;
  for (const index of task.outputs) {
    const report = reports.find(({ output }) => output === index);
    const failure = report?.status === "failed" ? report.failure : NOT_STORED;
    if (report?.status === "made" && isStored(state, task, report)) next = finishOutput(next, report, now);
    else if (mayRetry(task, failure)) again.push(index);
    else if (task.kind === "join" && errorTraits(failure.code).blame === "node") unjoined = failure;
    else next = failOutput(next, index, failure, now);
  }
  next =
    again.length > 0
      ? retryTask(next, taskId, again, now)
      : moveTaskTo(orphanUploads(next, taskId), taskId, "finish", { reports: [] });
  // Another try of the join comes first: what it cannot save either is encoded whole with these.
  if (unjoined && again.length === 0) next = fallBack(next, unjoinable(unjoined));
  return endIfDone(bump(next), now);
}

const NOT_STORED: Failure = {
  code: "node_failed",
  message: "The encoder node did not bring all files of this output to the storage",
};

/** Whether a report names every file that its output needs, each by the upload that was granted for it. */
function isStored(state: JobState, task: TaskState, report: OutputReport & { status: "made" }): boolean {
  const spec = state.spec.outputs[report.output];
  if (!spec) return false;
  const reported = new Map(report.files.map((file) => [uploadKey(file), file]));
  return neededFiles(spec, state.input.probe).every((file) => {
    const key = uploadKey({ output: report.output, file });
    const [sent, upload] = [reported.get(key), task.uploads[key]];
    return !!sent && upload?.sizeBytes === sent.sizeBytes && upload.partCount === sent.etags.length;
  });
}

function finishOutput(state: JobState, report: OutputReport & { status: "made" }, now: number): JobState {
  const spec = state.spec.outputs[report.output];
  const files = spec ? filesOf(report, neededFiles(spec, state.input.probe)) : [];
  const { encoder, note } = report;
  const how = { ...(encoder === undefined ? {} : { encoder }), ...(note === undefined ? {} : { note }) };
  const probes = boundedProbes(report, state.outputs.length);
  const done = moveOutputs(state, [report.output], "finish", { files, ...probes, ...how });
  return record(done, "output.completed", report.output, now);
}

/** What is kept of the files that a report names, in the order of these names. */
function filesOf({ output, files }: OutputReport & { status: "made" }, names: readonly FileName[]) {
  const sizes = new Map(files.map((file) => [uploadKey(file), file.sizeBytes]));
  return names.map((file) => ({ sizeBytes: sizes.get(uploadKey({ output, file })) ?? 0 }));
}

/** The whole task failed on its node, or the node hands it back (`node_lost`), which is nobody's failure. */
export function failTask(state: JobState, taskId: string, failure: Failure, now: number): JobState {
  const task = taskOf(state, taskId);
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
    ? retryTask(state, taskId, task.outputs, now)
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
  return demand(putBack(released, task, task.outputs), slotClassOf(task));
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

const unjoinable = ({ message }: Failure): string =>
  `Encoded in one piece, because its chunks could not be joined: ${message}`;

const mayRetry = (task: TaskState, failure: Failure): boolean =>
  errorTraits(failure.code).retryable && task.failures + 1 < MAX_FAILURES;

/** Puts a task back for the outputs that are still wanted; the grant is void, so late words of its node are stale. */
function retryTask(state: JobState, taskId: string, outputs: number[], now: number): JobState {
  const task = taskOf(state, taskId);
  const next = moveTaskTo(orphanUploads(state, taskId), taskId, "release", {
    ...{ grant: null, stage: null, fraction: 0, reports: [], outputs },
    avoid: avoidHolder(task),
    failures: task.failures + 1,
    notBefore: now + FAILURE_PAUSE_MS,
  });
  return demand(putBack(next, task, outputs), slotClassOf(task));
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
  return demand(putBack(released, task, task.outputs), slotClassOf(task));
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
  let next = moveTaskTo(orphanUploads(state, taskId), taskId, "abandon", { reports: [] });
  if (task.kind === "inspect") return failInput(next, failure, now);
  for (const index of task.outputs) next = failOutput(next, index, failure, now);
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
