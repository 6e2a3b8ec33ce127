// The commands that nodes ran for a job, for its client to read. No decision depends on them. Pure.
import * as z from "zod";
import { hideUrls } from "#shared/network/hide-urls.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { TaskState } from "./task-state.ts";

/** Failure of a run. */
const Failure = z.object({
  exitCode: z.int().nullable(),
  signal: z.string().exactOptional(),
  stderrTail: z.string().exactOptional(),
});

/** A run. `afterMs`: its start in ms after its lease. `tookMs`: its duration. */
const LoggedRun = z.object({
  argv: z.array(z.string()),
  afterMs: z.number(),
  tookMs: z.number(),
  failure: Failure.nullable(),
});
export type LoggedRun = z.infer<typeof LoggedRun>;

const LoggedAttempt = z.object({
  task: z.string(),
  attempt: z.int(),
  nodeId: z.string(),
  /** ms since 1970. */
  since: z.number(),
  runs: z.array(LoggedRun),
});

export const CommandLog = z.object({
  /** In the order of their ends. */
  attempts: z.array(LoggedAttempt),
  /** The number of runs that are not kept. */
  dropped: z.int(),
});
export type CommandLog = z.infer<typeof CommandLog>;

export const NO_COMMANDS: CommandLog = { attempts: [], dropped: 0 };

/**
 * Maximum number of characters of a log in JSON: about 50 commands. Each save writes the log, with most of the job
 * (persistence/job-store.ts).
 */
const MAX_LOG_CHARS = 68_000;
/** The share of the runs that is dropped at a time. */
const DROPPED_SHARE = 0.05;

/** Adds the commands that a task's node reported. `task`: the task at the time of the report. */
export function withCommands(log: CommandLog, task: TaskState, reported: readonly CommandReport[]): CommandLog {
  const { id, attempt, lease } = task;
  if (!lease || reported.length === 0) return log;
  const runs = reported.map(({ argv, afterMs, tookMs, stderrTail, ...end }): LoggedRun => {
    const tail = stderrTail === undefined ? {} : { stderrTail: hideUrls(stderrTail) };
    return { argv: argv.map(hideUrls), afterMs, tookMs, failure: end.exitCode === 0 ? null : { ...end, ...tail } };
  });
  const ended = { task: id, attempt, nodeId: lease.nodeId, since: lease.since, runs };
  return bounded({ ...log, attempts: [...log.attempts, ended] });
}

/** Drops successful runs first, the oldest first. */
function bounded(log: CommandLog): CommandLog {
  let next = log;
  while (next.attempts.length > 0 && JSON.stringify(next).length > MAX_LOG_CHARS) {
    const runs = next.attempts.flatMap((attempt) => attempt.runs);
    const order = runs.toSorted((a, b) => Number(a.failure !== null) - Number(b.failure !== null));
    const dropped = new Set(order.slice(0, Math.ceil(runs.length * DROPPED_SHARE)));
    const attempts = next.attempts
      .map((attempt) => ({ ...attempt, runs: attempt.runs.filter((run) => !dropped.has(run)) }))
      .filter((attempt) => attempt.runs.length > 0);
    next = { attempts, dropped: next.dropped + dropped.size };
  }
  return next;
}
