// What follows from a source that was inspected: which outputs are made, and by which tasks.
import { holds, parseCondition } from "#shared/condition/condition.ts";
import { inputVariables, isConditionVariable } from "#shared/condition/condition-variables.ts";
import type { Failure } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { ALL_SOFTWARE } from "#shared/plan/command/capabilities.ts";
import { type EncodePlan, planEncode } from "#shared/plan/plan-encode.ts";
import { pathClashes } from "#shared/request/outputs/unique-outputs.ts";
import { type Inspected, planChunks } from "../chunks/chunk-plan.ts";
import { beginWork } from "../chunks/chunk-reports.ts";
import { boundedInputProbe } from "../state/bounded-probes.ts";
import { addTask, bump, demand, failOutput, moveInputTo, moveOutputs, moveTaskTo } from "../state/job-moves.ts";
import { type JobState, newTask } from "../state/job-state.ts";
import { endIfDone, record } from "./job-ending.ts";

/** Takes what a node reports of the source. */
export function completeInspect(state: JobState, reported: MediaProbe, inspected: Inspected, now: number): JobState {
  const { task } = inspected;
  const probe = boundedInputProbe(reported);
  const specs = state.spec.outputs.filter(({ index }) => state.outputs[index]?.phase === "waiting");
  let next = moveTaskTo(state, task.id, "finish");
  next = { ...next, input: { ...next.input, probe }, sourceNode: task.grant?.nodeId ?? null };
  next = record(moveInputTo(next, "transferred"), "input.transferred", null, now);
  const skipped = specs.filter((spec) => !isWanted(spec, probe));
  next = moveOutputs(next, indicesOf(skipped), "skip");
  const asked = specs.filter((spec) => !skipped.includes(spec));
  const finished = state.spec.outputs.filter(({ index }) => state.outputs[index]?.phase === "done");
  const refusals = unmakeable({ asked, finished }, probe);
  const wanted = indicesOf(asked).filter((index) => !refusals.some(({ output }) => output === index));
  next = moveOutputs(next, wanted, "queue");
  for (const { output, failure } of refusals) next = failOutput(next, output, failure, now);
  return endIfDone(bump(beginOutputs(next, wanted, inspected)), now);
}

/** Adds the tasks that make these outputs: of chunks, where that was asked for and can be, the others by one decode. */
function beginOutputs(state: JobState, wanted: readonly number[], inspected: Inspected): JobState {
  const { settings } = state.spec;
  const plan = settings.ultrafast && wanted.length > 0 ? planChunks(state, wanted, inspected) : null;
  const chunked = plan?.ok ? plan.work.outputs : [];
  const whole = wanted.filter((index) => !chunked.includes(index));
  const next = whole.length > 0 ? addTask(state, newTask(state.round, "encode", whole)) : state;
  if (!plan) return next;
  if (!plan.ok) return { ...next, ultrafast: { reason: plan.reason } };
  return demand(beginWork({ ...next, chunkResults: plan.results }, plan.work), "encode");
}

/** Outputs of those asked for that cannot be made of this source, or would write what another one writes. */
function unmakeable(
  { asked, finished }: { asked: readonly OutputSpec[]; finished: readonly OutputSpec[] },
  probe: MediaProbe,
): EncodePlan["refusals"] {
  const { refusals } = refusalsOf(asked, probe);
  const possible = asked.filter(({ index }) => !refusals.some(({ output }) => output === index));
  return [...refusals, ...pathClashes([...finished, ...possible])];
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
