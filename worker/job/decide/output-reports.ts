// Changes of a job by the outputs that a node reports, during its lease or at its end. Pure: (state, report, now) →
// next state.
import { errorTraits, type Failure } from "#shared/errors.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { FileName } from "#shared/protocol/uploads.ts";
import { fallBack } from "../chunks/chunk-reports.ts";
import { endAttempt } from "../state/attempt-log.ts";
import { boundedProbes } from "../state/bounded-probes.ts";
import { boundedQuality, boundedTargets } from "../state/bounded-quality.ts";
import { bumpVersion, moveOutputs, moveTaskTo, orphanUploads, patchTask, taskOf } from "../state/job-moves.ts";
import type { JobState, OutputState } from "../state/job-state.ts";
import { type MadeReport, madeReports, remainingOutputs } from "../state/remaining-outputs.ts";
import { type TaskState, uploadKey } from "../state/task-state.ts";
import { requiredFiles } from "../uploads/job-files.ts";
import { endsInput, failInput } from "./input-failure.ts";
import { endIfDone, failOutput, recordEvent } from "./job-ending.ts";
import { joinFailedReason, mayRetry, retryTask } from "./task-ends.ts";

/**
 * Takes reports on outputs of a task that the node continues. Each output ends as soon as the storage has its files.
 * Failures that another attempt may avoid wait for the end of the task. An output is reported once; the last output
 * completes the task.
 */
export function acceptOutputs(
  state: JobState,
  taskId: string,
  reports: readonly OutputReport[],
  now: number,
): JobState {
  const next = addReports(state, taskId, reports);
  const task = taskOf(next, taskId);
  const isLeft = remainingOutputs(next, task).some((index) => !task.reports.some(({ output }) => output === index));
  return isLeft ? settle(next, taskId, now) : completeOutputs(next, taskId, [], now);
}

/**
 * Completes a task: outputs without a report have failed. Multipart uploads are completed in the phase `completing`.
 */
export function completeOutputs(
  state: JobState,
  taskId: string,
  reports: readonly OutputReport[],
  now: number,
): JobState {
  const reported = addReports(state, taskId, reports);
  const ended = endAttempt(reported, taskOf(state, taskId), endingOf(reported, taskId), now);
  return settle(moveTaskTo(ended, taskId, "complete"), taskId, now);
}

/** An attempt without any good output has failed. */
function endingOf(state: JobState, taskId: string): { outcome: "completed" | "failed"; reason?: string } {
  const { outputs, reports } = taskOf(state, taskId);
  const failure = reports.flatMap((report) => (report.status === "failed" ? [report.failure] : []))[0];
  const isMade = outputs.some((index) => state.outputs[index]?.phase === "done") || madeReports({ reports }).length > 0;
  return isMade || !failure ? { outcome: "completed" } : { outcome: "failed", reason: failure.message };
}

/** An output's multipart uploads: completed by the storage, or failed permanently. */
export type CompletedUploads = {
  readonly taskId: string;
  readonly report: MadeReport;
  readonly failure: Failure | null;
};

/** Ends the output whose uploads were completed or have failed. */
export function settleUploads(state: JobState, { taskId, report, failure }: CompletedUploads, now: number): JobState {
  const task = state.tasks.find(({ id }) => id === taskId);
  if (!task?.reports.includes(report)) return state;
  const { output } = report;
  const others = task.reports.filter((other) => other !== report);
  if (!failure) return settle(finishOutput(patchTask(state, taskId, { reports: others }), report, now), taskId, now);
  const reports: OutputReport[] = [...others, { status: "failed", output, failure }];
  return settle(patchTask(state, taskId, { reports }), taskId, now);
}

function addReports(state: JobState, taskId: string, reports: readonly OutputReport[]): JobState {
  const task = taskOf(state, taskId);
  const known = new Set(task.reports.map(({ output }) => output));
  const added: OutputReport[] = [];
  for (const report of reports) {
    if (known.has(report.output) || !remainingOutputs(state, task).includes(report.output)) continue;
    known.add(report.output);
    added.push(report.status === "failed" || isStored(state, task, report) ? report : notStored(report));
  }
  return added.length === 0 ? state : patchTask(state, taskId, { reports: [...task.reports, ...added] });
}

const notStored = ({ output }: { output: number }): OutputReport => ({ status: "failed", output, failure: NOT_STORED });

const NOT_STORED: Failure = {
  code: "node_failed",
  message: "The encoder node did not upload all files of this output",
};

/** Ends each output that can be ended now, and the task once none of its uploads waits to be completed. */
function settle(state: JobState, taskId: string, now: number): JobState {
  const task = taskOf(state, taskId);
  let next = state;
  let broken: Failure | null = null;
  const left: OutputReport[] = [];
  for (const report of task.reports) {
    if (report.status === "failed") {
      // The end of the task decides whether outputs whose chunks cannot be joined are encoded in one piece.
      if (mayRetry(task, report.failure) || task.kind === "join") left.push(report);
      else if (endsInput(report.failure)) broken ??= report.failure;
      else next = failOutput(next, report.output, report.failure, now);
    } else if (hasMultipartUpload(task, report)) left.push(report);
    else next = finishOutput(next, report, now);
  }
  next = patchTask(next, taskId, { reports: left });
  if (broken) return endIfDone(bumpVersion(failInput(next, broken, now)), now);
  const isOver = task.phase === "completing" && madeReports({ reports: left }).length === 0;
  return isOver ? endTask(next, taskId, now) : endIfDone(next, now);
}

/** The last step of a task: outputs that another attempt may save are encoded again. */
function endTask(state: JobState, taskId: string, now: number): JobState {
  const task = taskOf(state, taskId);
  const again: number[] = [];
  let notJoined: Failure | null = null;
  let broken: Failure | null = null;
  let next = state;
  for (const index of remainingOutputs(state, task)) {
    const report = task.reports.find(({ output }) => output === index);
    const failure = report?.status === "failed" ? report.failure : NOT_STORED;
    // A failed input is not read again.
    if (mayRetry(task, failure) && !state.input.failure) again.push(index);
    else if (endsInput(failure)) broken = failure;
    else if (task.kind === "join" && errorTraits(failure.code).blame === "node") notJoined = failure;
    else next = failOutput(next, index, failure, now);
  }
  if (broken) return endIfDone(bumpVersion(failInput(next, broken, now)), now);
  next =
    again.length > 0
      ? retryTask(next, { taskId, outputs: again, failure: null }, now)
      : moveTaskTo(orphanUploads(next, taskId), taskId, "finish", { reports: [] });
  // The join is tried again first. Outputs that fail again are encoded in one piece together with these outputs.
  if (notJoined && again.length === 0) next = fallBack(next, joinFailedReason(notJoined));
  return endIfDone(bumpVersion(next), now);
}

/** True if the storage has multipart uploads of the output to complete. */
const hasMultipartUpload = ({ uploads }: TaskState, { files }: MadeReport): boolean =>
  files.some((file) => uploads[uploadKey(file)]?.uploadId != null);

/** True if a report names every required file of its output, each with the upload that was signed for it. */
function isStored(state: JobState, task: TaskState, report: MadeReport): boolean {
  const spec = state.spec.outputs[report.output];
  if (!spec) return false;
  const reported = new Map(report.files.map((file) => [uploadKey(file), file]));
  return requiredFiles(spec, state.outputs[report.output]).every((file) => {
    const key = uploadKey({ output: report.output, file });
    const [sent, upload] = [reported.get(key), task.uploads[key]];
    return !!sent && upload?.sizeBytes === sent.sizeBytes && upload.partCount === sent.etags.length;
  });
}

function finishOutput(state: JobState, report: MadeReport, now: number): JobState {
  const spec = state.spec.outputs[report.output];
  const patch: Partial<OutputState> = {
    files: spec ? filesOf(report, requiredFiles(spec, state.outputs[report.output])) : [],
    ...boundedProbes(report, state.outputs.length),
  };
  if (report.encoder !== undefined) patch.encoder = report.encoder;
  if (report.note !== undefined) patch.note = report.note;
  if (report.targets) patch.targets = boundedTargets(report.targets, state.outputs.length);
  if (report.loudness) patch.loudness = report.loudness;
  if (report.speech) patch.speech = report.speech;
  if (report.dropped) patch.dropped = report.dropped;
  if (report.quality) patch.quality = boundedQuality(report.quality, state.outputs.length);
  const done = moveOutputs(state, [report.output], "finish", patch);
  return recordEvent(done, "output.completed", report.output, now);
}

/** The files of a report that are kept in the state, in the order of these names. */
function filesOf({ output, files }: MadeReport, names: readonly FileName[]) {
  const sizes = new Map(files.map((file) => [uploadKey(file), file.sizeBytes]));
  return names.map((file) => ({ sizeBytes: sizes.get(uploadKey({ output, file })) ?? 0 }));
}
