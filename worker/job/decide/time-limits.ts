// Ends jobs that no node works on, or that take too long: otherwise they would keep their secrets forever. Pure.
import type { Failure } from "#shared/errors.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import { abandonTasks, bumpVersion, moveInputTo } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { endIfDone, failOutput } from "./job-ending.ts";

/**
 * An alarm that is later than this rings after an outage of the control plane, in which no node could take the work.
 * Alarms of a working platform are late by a minute at most, or repeated for some minutes.
 */
const OUTAGE_MS = 5 * 60_000;

/** Time at which the job ends unless its state changes, ms since 1970, and the failure. Null: never. */
export function limitOf(state: JobState): { at: number; failure: Failure } | null {
  if (isTerminalJob(state.status)) return null;
  const { startWithinMs, maxRunMs } = state.spec.settings;
  const limits: { at: number; failure: Failure }[] = [];
  if (!state.tasks.some(isWorkedOn)) {
    const reason = state.tasks.find(({ refused }) => refused)?.refused?.reason;
    const late = `No encoder node took the work of this job within ${startWithinMs / 1000} s`;
    const message = reason === undefined ? late : `${late}: ${reason}`;
    limits.push({ at: idleSince(state) + startWithinMs, failure: { code: "job_not_started", message } });
  }
  if (maxRunMs !== null && state.runningSince !== null) {
    const message = `The job did not end within ${maxRunMs / 1000} s after its first task started`;
    limits.push({ at: state.runningSince + maxRunMs, failure: { code: "job_timeout", message } });
  }
  return limits.toSorted((one, other) => one.at - other.at)[0] ?? null;
}

/** True if a node works on a task. A node that waits for chunks does not: perhaps no other node takes these chunks. */
export const isWorkedOn = ({ phase, lease }: JobState["tasks"][number]): boolean =>
  phase === "completing" || (phase === "leased" && lease?.waitedUntil !== null);

/**
 * Time since which no node has worked on the job: its start, its last report, the end of its last lease or of an
 * outage, or the first time that a node had no room for a task.
 */
function idleSince({ spec, startedAt, workedAt, tasks }: JobState): number {
  const refused = tasks.flatMap((task) => task.refused?.since ?? []);
  const worked = refused.length > 0 ? refused : [workedAt, ...tasks.map(({ notBefore }) => notBefore)];
  return Math.max(spec.createdAt, startedAt, ...worked);
}

/**
 * Ends a job whose time is over: finished outputs are kept, all others fail. Work that waited for a node during an
 * outage gets its time again, because nodes return after the control plane.
 */
export function endOverdue(state: JobState, now: number): JobState {
  const limit = limitOf(state);
  if (!limit || limit.at > now) return state;
  const { at, failure } = limit;
  if (failure.code === "job_not_started" && now > at + OUTAGE_MS) {
    const tasks = state.tasks.map((task) => ({ ...task, refused: task.refused && { ...task.refused, since: now } }));
    return { ...state, workedAt: now, tasks };
  }
  let next = abandonTasks(state);
  // Without a probe, no node could fetch the input.
  if (!state.input.probe) next = moveInputTo({ ...next, input: { ...next.input, failure } }, "fail");
  for (const [index, { phase }] of state.outputs.entries()) {
    if (!isTerminalOutput(phase)) next = failOutput(next, index, failure, now);
  }
  return endIfDone(bumpVersion(next), now);
}
