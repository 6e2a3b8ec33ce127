// The failure of a job's source, at its inspection or while its outputs are made. Pure: (state, failure, now) → next
// state.
import { errorTraits, type Failure } from "#shared/errors.ts";
import { moveInput } from "#shared/job/job-status.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import { abandonTasks, moveInputTo, moveOutputs } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { madeReports } from "../state/remaining-outputs.ts";
import { failOutput, recordEvent } from "./job-ending.ts";

/** True if the failure ends the whole input: its source can no longer be read, so no other output can be made. */
export const endsInput = ({ code }: Failure): boolean => errorTraits(code).scope === "input";

/**
 * Fails the input and each unfinished output, except outputs that only wait for the storage. Outputs have events of
 * their own only if the source was transferred before: clients wait for these events since `input.transferred`.
 */
export function failInput(state: JobState, failure: Failure, now: number): JobState {
  const isEarly = state.input.status === "input.starting" || state.input.status === "input.transferring";
  const madeOutputs = new Set(state.tasks.flatMap(madeReports).map(({ output }) => output));
  const unfinished = [...state.outputs.keys()].filter((index) => !madeOutputs.has(index));
  const outputFailure: Failure = { code: failure.code, message: `The input failed: ${failure.message}` };
  let next = abandonTasks(state, { keepMade: true });
  if (moveInput(state.input.status, "fail")) {
    next = recordEvent(moveInputTo({ ...next, input: { ...next.input, failure } }, "fail"), "input.failed", null, now);
  }
  if (isEarly) return moveOutputs(next, unfinished, "fail", { failure: outputFailure });
  for (const index of unfinished) {
    if (!isTerminalOutput(next.outputs[index]?.phase ?? "waiting")) next = failOutput(next, index, outputFailure, now);
  }
  return next;
}
