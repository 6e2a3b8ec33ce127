// What a node's reports do to a job. Pure: (state, report, now) → next state.

import { holds, parseCondition } from "#shared/condition.ts";
import { inputVariables, isConditionVariable } from "#shared/condition-variables.ts";
import { errorTraits, type Failure } from "#shared/errors.ts";
import type { MediaProbe } from "#shared/media-probe.ts";
import type { OutputSpec } from "#shared/output-spec.ts";
import { ALL_SOFTWARE } from "#shared/plan/can.ts";
import { type EncodePlan, planEncode } from "#shared/plan/plan-encode.ts";
import { type FileName, type OutputReport, slotClassOf, type TaskResult } from "#shared/protocol.ts";
import { boundedInputProbe, boundedProbes } from "./bounded-probes.ts";
import { endIfDone, record } from "./job-ending.ts";
import { type NamedFile, neededFiles, objectOf, uploadKey } from "./job-files.ts";
import {
  addTask,
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
import { type GrantedUpload, type JobState, MAX_FAILURES, MAX_LOSSES, newTask, type TaskState } from "./job-state.ts";

/** How long a task rests after a failure before it is offered again. */
const FAILURE_PAUSE_MS = 1000;

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
 * The result must be of the task's kind.
 */
export function completeTask(state: JobState, taskId: string, result: TaskResult, now: number): JobState {
  const task = taskOf(state, taskId);
  if (result.kind === "inspect") return completeInspect(state, task, result.probe, now);
  const published = moveTaskTo(state, taskId, "publish", { reports: result.outputs });
  const multipart = Object.values(task.uploads).some((upload) => upload.uploadId !== null);
  return multipart ? published : settleOutputs(published, taskId, result.outputs, now);
}

function completeInspect(state: JobState, task: TaskState, reported: MediaProbe, now: number): JobState {
  const probe = boundedInputProbe(reported);
  const specs = state.spec.outputs.filter(({ index }) => state.outputs[index]?.phase === "waiting");
  let next = moveTaskTo(state, task.id, "finish");
  next = { ...next, input: { ...next.input, probe }, sourceNode: task.grant?.nodeId ?? null };
  next = record(moveInputTo(next, "transferred"), "input.transferred", null, now);
  const skipped = specs.filter((spec) => !isWanted(spec, probe));
  next = moveOutputs(next, indicesOf(skipped), "skip");
  const asked = specs.filter((spec) => !skipped.includes(spec));
  const { refusals } = refusalsOf(asked, probe);
  const wanted = indicesOf(asked).filter((index) => !refusals.some(({ output }) => output === index));
  next = moveOutputs(next, wanted, "queue");
  for (const { output, failure } of refusals) next = failOutput(next, output, failure, now);
  if (wanted.length > 0) next = addTask(next, newTask(next.round, "encode", wanted));
  return endIfDone(bump(next), now);
}

/** Which outputs cannot be made of this source. A source that confuses the planner fails them all, not the service. */
function refusalsOf(outputs: readonly OutputSpec[], probe: MediaProbe): Pick<EncodePlan, "refusals"> {
  try {
    return planEncode({ source: "", probe, outputs, can: ALL_SOFTWARE });
  } catch {
    const failure: Failure = {
      code: "internal_error",
      message: "The service could not plan this output for the input",
    };
    return { refusals: outputs.map(({ index }) => ({ output: index, failure })) };
  }
}

const indicesOf = (specs: readonly OutputSpec[]): number[] => specs.map(({ index }) => index);

/** Whether an output's condition holds; it was parsed once before, when the job was created. */
export function isWanted({ condition }: OutputSpec, probe: MediaProbe): boolean {
  const parsed = condition === null ? null : parseCondition(condition, isConditionVariable);
  return !parsed?.ok || holds(parsed.condition, inputVariables(probe));
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
  let next = state;
  for (const index of task.outputs) {
    const report = reports.find(({ output }) => output === index);
    const failure = report?.status === "failed" ? report.failure : NOT_STORED;
    if (report?.status === "made" && isStored(state, task, report)) next = finishOutput(next, report, now);
    else if (mayRetry(task, failure)) again.push(index);
    else next = failOutput(next, index, failure, now);
  }
  next =
    again.length > 0 ? retryTask(next, taskId, again, now) : moveTaskTo(orphanUploads(next, taskId), taskId, "finish");
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
    const lost = loseTask(state, taskId, now);
    return endIfDone(bump(patchTask(lost, taskId, { grant: null })), now);
  }
  const next = mayRetry(task, failure)
    ? retryTask(state, taskId, task.outputs, now)
    : abandonTask(state, taskId, failure, now);
  return endIfDone(bump(next), now);
}

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
  return demand(moveOutputs(next, outputs, "requeue"), slotClassOf(task));
}

/** The nodes to avoid once the one that holds the task has not brought it to its end. */
const avoidHolder = ({ avoid, grant }: TaskState): string[] => (grant ? [...new Set([...avoid, grant.nodeId])] : avoid);

/** A grant ended without a result: the task goes back, until it was lost too often. */
export function loseTask(state: JobState, taskId: string, now: number): JobState {
  const task = taskOf(state, taskId);
  const losses = task.losses + 1;
  const next = patchTask(state, taskId, { losses, avoid: avoidHolder(task), notBefore: now });
  if (losses > MAX_LOSSES) return abandonTask(next, taskId, NODE_LOST, now);
  const released = moveTaskTo(next, taskId, "release", { stage: null, fraction: 0 });
  return demand(moveOutputs(released, task.outputs, "requeue"), slotClassOf(task));
}

const NODE_LOST: Failure = {
  code: "node_lost",
  message: "The encoder nodes that worked on this stopped answering, one after the other",
};

/** Gives a task up: its input or its outputs fail. */
export function abandonTask(state: JobState, taskId: string, failure: Failure, now: number): JobState {
  const task = taskOf(state, taskId);
  let next = moveTaskTo(orphanUploads(state, taskId), taskId, "abandon", { reports: [] });
  if (task.kind === "inspect") return failInput(next, failure, now);
  for (const index of task.outputs) next = failOutput(next, index, failure, now);
  return next;
}

/** Outputs that never began because the input failed say why, but make no events of their own. */
function failInput(state: JobState, failure: Failure, now: number): JobState {
  const next = moveInputTo({ ...state, input: { ...state.input, failure } }, "fail");
  const all = state.spec.outputs.map(({ index }) => index);
  const own: Failure = { code: failure.code, message: `The input failed: ${failure.message}` };
  return record(moveOutputs(next, all, "fail", { failure: own }), "input.failed", null, now);
}
