// Outputs that a node reports, one by one while it has the lease or together at its end. Pure: (state, report, now) → next state.
import { errorTraits, type Failure } from "#shared/errors.ts";
import type { FileName, OutputReport } from "#shared/protocol/protocol.ts";
import { fallBack } from "../chunks/chunk-reports.ts";
import { boundedProbes } from "../state/bounded-probes.ts";
import { bump, failOutput, moveOutputs, moveTaskTo, orphanUploads, patchTask, taskOf } from "../state/job-moves.ts";
import type { JobState, TaskState } from "../state/job-state.ts";
import { neededFiles, uploadKey } from "../uploads/job-files.ts";
import { endIfDone, record } from "./job-ending.ts";
import { type MadeReport, madeReports, owedOutputs } from "./remaining-outputs.ts";
import { mayRetry, retryTask, unjoinable } from "./task-ends.ts";

/**
 * A node reports outputs of the task that it goes on with: each ends as soon as the storage has its files. What another
 * attempt may do better waits for the end of this one. An output is reported once; with the last the task is complete.
 */
export function takeOutputs(state: JobState, taskId: string, reports: readonly OutputReport[], now: number): JobState {
  const next = addReports(state, taskId, reports);
  const task = taskOf(next, taskId);
  const isLeft = owedOutputs(next, task).some((index) => !task.reports.some(({ output }) => output === index));
  return isLeft ? settle(next, taskId, now) : completeOutputs(next, taskId, [], now);
}

/** The task is done: an output that is in no report has failed. Multipart uploads are completed in `publishing`. */
export function completeOutputs(
  state: JobState,
  taskId: string,
  reports: readonly OutputReport[],
  now: number,
): JobState {
  return settle(moveTaskTo(addReports(state, taskId, reports), taskId, "publish"), taskId, now);
}

/** The storage has completed the uploads of an output, or never will: then `failure` says why. */
export function settlePublished(
  state: JobState,
  taskId: string,
  report: MadeReport,
  failure: Failure | null,
  now: number,
): JobState {
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
    if (known.has(report.output) || !owedOutputs(state, task).includes(report.output)) continue;
    known.add(report.output);
    added.push(report.status === "failed" || isStored(state, task, report) ? report : notStored(report));
  }
  return added.length === 0 ? state : patchTask(state, taskId, { reports: [...task.reports, ...added] });
}

const notStored = ({ output }: { output: number }): OutputReport => ({ status: "failed", output, failure: NOT_STORED });

const NOT_STORED: Failure = {
  code: "node_failed",
  message: "The encoder node did not bring all files of this output to the storage",
};

/** Ends each output that can be ended now, and the task when nothing of it is left to be completed. */
function settle(state: JobState, taskId: string, now: number): JobState {
  const task = taskOf(state, taskId);
  let next = state;
  const left: OutputReport[] = [];
  for (const report of task.reports) {
    if (report.status === "failed") {
      // The end of the task decides what becomes of a film whose chunks cannot be joined.
      if (mayRetry(task, report.failure) || task.kind === "join") left.push(report);
      else next = failOutput(next, report.output, report.failure, now);
    } else if (hasParts(task, report)) left.push(report);
    else next = finishOutput(next, report, now);
  }
  next = patchTask(next, taskId, { reports: left });
  const isOver = task.phase === "publishing" && madeReports({ reports: left }).length === 0;
  return isOver ? endTask(next, taskId, now) : endIfDone(next, now);
}

/** The last step of a task: what another attempt may save goes back to be encoded again. */
function endTask(state: JobState, taskId: string, now: number): JobState {
  const task = taskOf(state, taskId);
  const again: number[] = [];
  let unjoined: Failure | null = null;
  let next = state;
  for (const index of owedOutputs(state, task)) {
    const report = task.reports.find(({ output }) => output === index);
    const failure = report?.status === "failed" ? report.failure : NOT_STORED;
    if (mayRetry(task, failure)) again.push(index);
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

/** Whether the storage has something to complete. */
const hasParts = ({ uploads }: TaskState, { files }: MadeReport): boolean =>
  files.some((file) => uploads[uploadKey(file)]?.uploadId != null);

/** Whether a report names every file that its output needs, each by the upload that was granted for it. */
function isStored(state: JobState, task: TaskState, report: MadeReport): boolean {
  const spec = state.spec.outputs[report.output];
  if (!spec) return false;
  const reported = new Map(report.files.map((file) => [uploadKey(file), file]));
  return neededFiles(spec, state.input.probe).every((file) => {
    const key = uploadKey({ output: report.output, file });
    const [sent, upload] = [reported.get(key), task.uploads[key]];
    return !!sent && upload?.sizeBytes === sent.sizeBytes && upload.partCount === sent.etags.length;
  });
}

function finishOutput(state: JobState, report: MadeReport, now: number): JobState {
  const spec = state.spec.outputs[report.output];
  const files = spec ? filesOf(report, neededFiles(spec, state.input.probe)) : [];
  const { encoder, note } = report;
  const how = { ...(encoder === undefined ? {} : { encoder }), ...(note === undefined ? {} : { note }) };
  const probes = boundedProbes(report, state.outputs.length);
  const done = moveOutputs(state, [report.output], "finish", { files, ...probes, ...how });
  return record(done, "output.completed", report.output, now);
}

/** What is kept of the files that a report names, in the order of these names. */
function filesOf({ output, files }: MadeReport, names: readonly FileName[]) {
  const sizes = new Map(files.map((file) => [uploadKey(file), file.sizeBytes]));
  return names.map((file) => ({ sizeBytes: sizes.get(uploadKey({ output, file })) ?? 0 }));
}
