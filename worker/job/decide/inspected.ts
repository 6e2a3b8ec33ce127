// Decides, after the inspection of the source, which outputs are made and by which tasks.
import { inputVariables, isConditionVariable } from "#shared/condition/condition-variables.ts";
import { holds } from "#shared/condition/evaluate-condition.ts";
import { parseCondition } from "#shared/condition/parse-condition.ts";
import type { Failure } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { clipFailure } from "#shared/plan/source/clip-end.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { type EncodePlan, planEncode } from "#shared/plan/tasks/plan-encode.ts";
import { countImageFiles } from "#shared/plan/thumbnails/image-files.ts";
import { pathConflicts } from "#shared/request/outputs/unique-outputs.ts";
import { type Inspected, planChunks } from "../chunks/chunk-plan.ts";
import { beginWork } from "../chunks/chunk-reports.ts";
import { chunkAttempts, withEnded } from "../state/attempt-log.ts";
import { boundedInputProbe } from "../state/bounded-probes.ts";
import {
  addTask,
  bumpVersion,
  moveInputTo,
  moveOutputs,
  moveTaskTo,
  requestAdvertising,
  sourceAt,
} from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { newTask } from "../state/task-state.ts";
import { failInput } from "./input-failure.ts";
import { endIfDone, failOutput, recordEvent } from "./job-ending.ts";

/** Takes a node's report on the source. */
export function completeInspect(state: JobState, reported: MediaProbe, inspected: Inspected, now: number): JobState {
  const { task } = inspected;
  const probe = boundedInputProbe(reported);
  const waiting = state.spec.outputs.filter(({ index }) => state.outputs[index]?.phase === "waiting");
  const finished = state.spec.outputs.filter(({ index }) => state.outputs[index]?.phase === "done");
  let next = moveTaskTo(state, task.id, "finish");
  next = sourceAt({ ...next, input: { ...next.input, probe } }, task.lease);
  const beyond = clipFailure(state.spec.outputs[0]?.clip, chooseTracks(probe));
  if (beyond) return endIfDone(bumpVersion(failInput(next, beyond, now)), now);
  next = recordEvent(moveInputTo(next, "transferred"), "input.transferred", null, now);
  const requested = waiting.filter((spec) => isWanted(spec, probe));
  const skipped = waiting.filter((spec) => !requested.includes(spec));
  next = moveOutputs(next, indicesOf(skipped), "skip");
  const failures = impossibleOutputs({ requested, finished }, probe);
  const possible = requested.filter(({ index }) => !failures.some(({ output }) => output === index));
  for (const spec of possible) {
    const images = spec.type === "image" ? countImageFiles(spec, probe) : null;
    next = moveOutputs(next, [spec.index], "queue", { images });
  }
  for (const { output, failure } of failures) next = failOutput(next, output, failure, now);
  return endIfDone(bumpVersion(startOutputs(next, indicesOf(possible), inspected)), now);
}

/**
 * Adds the tasks that make these outputs: of chunks, if requested and possible; the other outputs with a single decode.
 */
function startOutputs(state: JobState, wanted: readonly number[], inspected: Inspected): JobState {
  const { settings } = state.spec;
  const plan = settings.ultrafast && wanted.length > 0 ? planChunks(state, wanted, inspected) : null;
  const chunked = plan?.ok ? plan.work.outputs : [];
  const whole = wanted.filter((index) => !chunked.includes(index));
  const { round } = state;
  const next = whole.length > 0 ? addTask(state, newTask({ kind: "encode", round, outputs: whole })) : state;
  if (!plan) return next;
  if (!plan.ok) return { ...next, ultrafast: { reason: plan.reason } };
  // The chunks of an earlier round are gone, but the log of their attempts is kept.
  const attempts = plan.results === state.chunkResults ? next.attempts : withEnded(next.attempts, chunkAttempts(state));
  return requestAdvertising(beginWork({ ...next, attempts, chunkResults: plan.results }, plan.work), "encode");
}

/** The requested outputs that cannot be made of this source, or would overwrite objects of another output. */
function impossibleOutputs(
  { requested, finished }: { requested: readonly OutputSpec[]; finished: readonly OutputSpec[] },
  probe: MediaProbe,
): EncodePlan["failures"] {
  const failures = planFailures(requested, probe);
  const possible = requested.filter(({ index }) => !failures.some(({ output }) => output === index));
  return [...failures, ...pathConflicts([...finished, ...possible])];
}

/** The outputs that cannot be made of this source. An error of the planner fails them all. */
function planFailures(outputs: readonly OutputSpec[], probe: MediaProbe): EncodePlan["failures"] {
  try {
    return planEncode({ source: "", probe, outputs, capabilities: ALL_SOFTWARE }).failures;
  } catch {
    const failure: Failure = {
      code: "internal_error",
      message: "The service could not plan this output for the input",
    };
    return outputs.map(({ index }) => ({ output: index, failure }));
  }
}

const indicesOf = (specs: readonly OutputSpec[]): number[] => specs.map(({ index }) => index);

/** True if an output's condition holds; it was validated when the job was created. */
export function isWanted({ condition, clip }: OutputSpec, probe: MediaProbe): boolean {
  const parsed = condition === null ? null : parseCondition(condition, isConditionVariable);
  return !parsed?.ok || holds(parsed.value, inputVariables(probe, clip));
}
