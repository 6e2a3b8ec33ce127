// What a node's reports do to a job. Pure: (state, report, now) → next state.

import { holds, parseCondition } from "#shared/condition.ts";
import { inputVariables, isConditionVariable } from "#shared/condition-variables.ts";
import { errorTraits, type Failure } from "#shared/errors.ts";
import type { MediaProbe } from "#shared/media-probe.ts";
import type { OutputSpec } from "#shared/output-spec.ts";
import { planEncode } from "#shared/plan/plan-encode.ts";
import type { OutputReport, TaskResult } from "#shared/protocol.ts";
import { endIfDone, record } from "./job-ending.ts";
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
  slotClassOf,
  taskOf,
  uploadKey,
} from "./job-moves.ts";
import { type GrantedUpload, type JobState, MAX_FAILURES, MAX_LOSSES, newTask, type TaskState } from "./job-state.ts";

/** How long a task rests after a failure before it is offered again. */
const FAILURE_PAUSE_MS = 1000;

/** Remembers the uploads that a grant is given, before the node learns of them. */
export function recordUploads(state: JobState, taskId: string, uploads: Record<string, GrantedUpload>): JobState {
  return patchTask(state, taskId, { uploads: { ...taskOf(state, taskId).uploads, ...uploads } });
}

/** A node finished its task. Outputs with multipart uploads wait in `publishing` until the storage completed them. */
export function completeTask(state: JobState, taskId: string, result: TaskResult, now: number): JobState {
  const task = taskOf(state, taskId);
  if (result.kind === "inspect") return completeInspect(state, task, result.probe, now);
  const published = moveTaskTo(state, taskId, "publish", { reports: result.outputs });
  const multipart = Object.values(task.uploads).some((upload) => upload.uploadId !== null);
  return multipart ? published : settleOutputs(published, taskId, result.outputs, now);
}

function completeInspect(state: JobState, task: TaskState, probe: MediaProbe, now: number): JobState {
  const { outputs: specs } = state.spec;
  let next = moveTaskTo(state, task.id, "finish");
  next = { ...next, input: { ...next.input, probe }, sourceNode: task.grant?.nodeId ?? null };
  next = record(moveInputTo(next, "transferred"), "input.transferred", null, now);
  const skipped = specs.filter((spec) => !isWanted(spec, probe));
  next = moveOutputs(next, indicesOf(skipped), "skip");
  const asked = specs.filter((spec) => !skipped.includes(spec));
  const { refusals } = planEncode({ source: "", probe, outputs: asked });
  const wanted = indicesOf(asked).filter((index) => !refusals.some(({ output }) => output === index));
  next = moveOutputs(next, wanted, "queue");
  for (const { output, failure } of refusals) next = failOutput(next, output, failure, now);
  if (wanted.length > 0) next = addTask(next, newTask("encode", "encode", wanted));
  return endIfDone(bump(next), now);
}

const indicesOf = (specs: readonly OutputSpec[]): number[] => specs.map(({ index }) => index);

/** Whether an output's condition holds; it was parsed once before, when the job was created. */
function isWanted({ condition }: OutputSpec, probe: MediaProbe): boolean {
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
    const failure = report?.status === "failed" ? report.failure : NOT_REPORTED;
    if (report?.status === "made") next = finishOutput(next, task, report, now);
    else if (mayRetry(task, failure)) again.push(index);
    else next = failOutput(next, index, failure, now);
  }
  next =
    again.length > 0 ? retryTask(next, taskId, again, now) : moveTaskTo(orphanUploads(next, taskId), taskId, "finish");
  return endIfDone(bump(next), now);
}

const NOT_REPORTED: Failure = {
  code: "node_failed",
  message: "The encoder node did not say what became of this output",
};

function finishOutput(
  state: JobState,
  task: TaskState,
  report: OutputReport & { status: "made" },
  now: number,
): JobState {
  const files = report.files
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .flatMap((file) => {
      const upload = task.uploads[uploadKey(file)];
      return upload ? [{ objectName: upload.objectName, sizeBytes: file.sizeBytes }] : [];
    });
  const done = moveOutputs(state, [report.output], "finish", { files, probe: report.probe });
  return record(done, "output.completed", report.output, now);
}

/** The whole task failed on its node, or the node hands it back (`node_lost`), which is nobody's failure. */
export function failTask(state: JobState, taskId: string, failure: Failure, now: number): JobState {
  const task = taskOf(state, taskId);
  if (failure.code === "node_lost") return endIfDone(bump(loseTask(state, taskId, now)), now);
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
  const avoid = task.grant ? [...new Set([...task.avoid, task.grant.nodeId])] : task.avoid;
  const patch = { grant: null, stage: null, fraction: 0, reports: [], avoid, outputs };
  const next = moveTaskTo(orphanUploads(state, taskId), taskId, "release", {
    ...patch,
    failures: task.failures + 1,
    notBefore: now + FAILURE_PAUSE_MS,
  });
  return demand(moveOutputs(next, outputs, "requeue"), slotClassOf(task));
}

/** A grant ended without a result: the task goes back, until it was lost too often. */
export function loseTask(state: JobState, taskId: string, now: number): JobState {
  const task = taskOf(state, taskId);
  const losses = task.losses + 1;
  const avoid = task.grant ? [...new Set([...task.avoid, task.grant.nodeId])] : task.avoid;
  const next = patchTask(state, taskId, { losses, avoid });
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
