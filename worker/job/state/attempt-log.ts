// The ended attempts of a job's tasks, for its client to read. No decision depends on them. Pure.
import * as z from "zod";
import { ATTEMPT_OUTCOMES, type AttemptOutcome, MAX_ATTEMPTS } from "#shared/api/task-responses.ts";
import { isTerminalJob, type JobStatus } from "#shared/job/job-status.ts";
import { TASK_KINDS } from "#shared/protocol/tasks.ts";
import type { ChunkResults } from "./chunk-state.ts";
import type { TaskState } from "./task-state.ts";

/** Points in time: ms since 1970. */
const Time = z.number();

const EndedAttempt = z.object({
  task: z.string(),
  kind: z.enum(TASK_KINDS),
  speculativeOf: z.string().exactOptional(),
  attempt: z.int(),
  nodeId: z.string(),
  since: Time,
  endedAt: Time,
  outcome: z.enum(ATTEMPT_OUTCOMES),
  reason: z.string().exactOptional(),
});
export type EndedAttempt = z.infer<typeof EndedAttempt>;

/**
 * Attempts in the order of their ends, and the number of dropped attempts. Attempts that brought a chunk are in its
 * ChunkResult.
 */
export const AttemptLog = z.object({ ended: z.array(EndedAttempt), dropped: z.int() });
export type AttemptLog = z.infer<typeof AttemptLog>;

export const NO_ATTEMPTS: AttemptLog = { ended: [], dropped: 0 };

/** The log is stored with each change of the job, in at most about 100 kB. */
const MAX_REASON_CHARS = 300;

/** The part of a job's state that decides which attempts have ended. */
type Attempting = {
  readonly status: JobStatus;
  readonly tasks: readonly TaskState[];
  readonly chunkResults: ChunkResults;
  readonly attempts: AttemptLog;
};

type Ending = { readonly outcome: AttemptOutcome; readonly reason?: string };

/** Adds the end of a task's current lease. `before`: the task with that lease. A repeated end replaces the first. */
export function endAttempt<State extends Pick<Attempting, "attempts">>(
  state: State,
  before: TaskState,
  { outcome, reason }: Ending,
  now: number,
): State {
  const { id: task, kind, speculativeOf, attempt, lease } = before;
  if (!lease) return state;
  const why = reason === undefined ? {} : { reason: reason.slice(0, MAX_REASON_CHARS) };
  const { nodeId, since } = lease;
  const ended = {
    task,
    kind,
    ...(speculativeOf && { speculativeOf }),
    attempt,
    nodeId,
    since,
    endedAt: now,
    outcome,
    ...why,
  };
  return { ...state, attempts: withEnded(state.attempts, [ended]) };
}

export function withEnded(log: AttemptLog, added: readonly EndedAttempt[]): AttemptLog {
  const isAdded = (one: EndedAttempt): boolean =>
    added.some(({ task, attempt }) => task === one.task && attempt === one.attempt);
  const all = [...log.ended.filter((entry) => !isAdded(entry)), ...added];
  const surplus = Math.max(0, all.length - MAX_ATTEMPTS);
  return { ended: all.slice(surplus), dropped: log.dropped + surplus };
}

/** Adds attempts that ended between two states for another reason than the end of their own task. */
export function endOthers<State extends Attempting>(before: Attempting | null, after: State, now: number): State {
  let next = after;
  if (before?.tasks === after.tasks) return next;
  for (const task of before?.tasks ?? []) {
    if (task.phase === "leased" && hasEnded(task, after)) next = endAttempt(next, task, endingOf(after), now);
  }
  return next;
}

/** True if a running attempt no longer runs in the other state, and its end is not recorded there. */
function hasEnded({ id, attempt }: TaskState, { tasks, attempts, chunkResults }: Attempting): boolean {
  const runs = tasks.some((task) => task.id === id && task.attempt === attempt && task.phase === "leased");
  if (runs || attempts.ended.some((entry) => entry.task === id && entry.attempt === attempt)) return false;
  return !Object.values(chunkResults).some((result) => result.task === id && result.attempt === attempt);
}

function endingOf({ status }: Attempting): Ending {
  if (!isTerminalJob(status)) return { outcome: "superseded" };
  return { outcome: "cancelled", reason: status === "job.aborted" ? "The job was cancelled" : "The job has ended" };
}

/** The attempts that brought chunks. */
export const chunkAttempts = ({ chunkResults }: Pick<Attempting, "chunkResults">): EndedAttempt[] =>
  Object.values(chunkResults).map(({ task, speculativeOf, attempt, nodeId, startedAt, tookMs }) => ({
    task,
    kind: "chunk",
    ...(speculativeOf && { speculativeOf }),
    attempt,
    nodeId,
    since: startedAt,
    endedAt: startedAt + tookMs,
    outcome: "completed",
  }));
