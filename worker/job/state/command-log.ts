// The commands that nodes ran for a job, for its client to read. No decision depends on them. Pure.
import * as z from "zod";
import { hideUrls } from "#shared/network/hide-urls.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { TaskState } from "./task-state.ts";

/** Replaces the middle of an argument: the argument's position, the characters kept before and after, the text. */
const Difference = z.tuple([z.int(), z.int(), z.int(), z.string()]);
type Difference = z.infer<typeof Difference>;

/** Failure of a run. */
const Failure = z.object({
  exitCode: z.int().nullable(),
  signal: z.string().exactOptional(),
  stderrTail: z.string().exactOptional(),
});

/**
 * A run: index of the base that has its arguments, the differences from the base, its start in ms after its lease, its
 * duration in ms, and its failure or null. The commands of chunks differ in little but times.
 */
const LoggedRun = z.tuple([z.int(), z.array(Difference), z.number(), z.number(), Failure.nullable()]);
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
  bases: z.array(z.array(z.string())),
  /** In the order of their ends. */
  attempts: z.array(LoggedAttempt),
  /** The number of runs that are not kept. */
  dropped: z.int(),
});
export type CommandLog = z.infer<typeof CommandLog>;

export const NO_COMMANDS: CommandLog = { bases: [], attempts: [], dropped: 0 };

/**
 * Maximum number of characters of a log in JSON: about 300 chunks. Each save writes the log, with most of the job
 * (persistence/job-store.ts).
 */
const MAX_LOG_CHARS = 68_000;
/** The share of the runs that is dropped at a time. */
const DROPPED_SHARE = 0.05;

/** Adds the commands that a task's node reported. `task`: the task at the time of the report. */
export function withCommands(log: CommandLog, task: TaskState, reported: readonly CommandReport[]): CommandLog {
  const { id, attempt, lease } = task;
  if (!lease || reported.length === 0) return log;
  let { bases } = log;
  const runs = reported.map(({ argv, afterMs, tookMs, stderrTail, ...end }): LoggedRun => {
    const packed = packArguments(bases, argv.map(hideUrls));
    bases = packed.bases;
    const tail = stderrTail === undefined ? {} : { stderrTail: hideUrls(stderrTail) };
    return [packed.base, packed.except, afterMs, tookMs, end.exitCode === 0 ? null : { ...end, ...tail }];
  });
  const ownCommands = { task: id, attempt, nodeId: lease.nodeId, since: lease.since, runs };
  return bounded({ ...log, bases, attempts: [...log.attempts, ownCommands] });
}

/** The arguments of a run in full. */
export function argumentsOf({ bases }: CommandLog, [base, except]: LoggedRun): string[] {
  const argv = [...(bases[base] ?? [])];
  for (const [at, before, after, text] of except) {
    const old = argv[at] ?? "";
    argv[at] = old.slice(0, before) + text + old.slice(old.length - after);
  }
  return argv;
}

type Packed = { readonly bases: string[][]; readonly base: number; readonly except: Difference[] };

function packArguments(bases: string[][], argv: string[]): Packed {
  const chars = JSON.stringify(argv).length;
  for (const [base, own] of bases.entries()) {
    if (own.length !== argv.length) continue;
    const except = argv.flatMap((text, at) => (text === own[at] ? [] : [differenceOf(own[at] ?? "", text, at)]));
    if (2 * JSON.stringify(except).length < chars) return { bases, base, except };
  }
  return { bases: [...bases, argv], base: bases.length, except: [] };
}

function differenceOf(old: string, text: string, at: number): Difference {
  const most = Math.min(old.length, text.length);
  let before = 0;
  while (before < most && old[before] === text[before]) before += 1;
  let after = 0;
  while (after < most - before && old.at(-1 - after) === text.at(-1 - after)) after += 1;
  return [at, before, after, text.slice(before, text.length - after)];
}

const failed = ([, , , , failure]: LoggedRun): boolean => failure !== null;

/** Drops successful runs first, the oldest first. */
function bounded(log: CommandLog): CommandLog {
  let next = log;
  while (next.attempts.length > 0 && JSON.stringify(next).length > MAX_LOG_CHARS) {
    const runs = next.attempts.flatMap((entry) => entry.runs);
    const order = runs.toSorted((a, b) => Number(failed(a)) - Number(failed(b)));
    const dropped = new Set(order.slice(0, Math.ceil(runs.length * DROPPED_SHARE)));
    const attempts = next.attempts
      .map((entry) => ({ ...entry, runs: entry.runs.filter((run) => !dropped.has(run)) }))
      .filter((entry) => entry.runs.length > 0);
    next = withUsedBases({ ...next, attempts, dropped: next.dropped + dropped.size });
  }
  return next;
}

function withUsedBases({ bases, attempts, dropped }: CommandLog): CommandLog {
  const used = [...new Set(attempts.flatMap(({ runs }) => runs.map(([base]) => base)))];
  const renumbered = attempts.map((entry) => ({
    ...entry,
    runs: entry.runs.map(([base, ...rest]): LoggedRun => [used.indexOf(base), ...rest]),
  }));
  return { bases: used.map((base) => bases[base] ?? []), attempts: renumbered, dropped };
}
