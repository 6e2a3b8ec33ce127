// The commands that nodes ran for a job, for its client to read. Nothing is decided by them. Pure.
import * as z from "zod";
import { hideUrls } from "#shared/network/hide-urls.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { TaskState } from "./task-state.ts";

/**
 * The arguments of a run: those of a base, except at some positions. The commands of a job's chunks differ in little
 * more than times.
 */
const Arguments = z.object({ base: z.int(), except: z.array(z.tuple([z.int(), z.string()])) });

const LoggedRun = z.object({
  task: z.string(),
  attempt: z.int(),
  nodeId: z.string(),
  argv: Arguments,
  /** ms since 1970. */
  startedAt: z.number(),
  tookMs: z.number(),
  exitCode: z.int().nullable(),
  signal: z.string().exactOptional(),
  stderrTail: z.string().exactOptional(),
});
type LoggedRun = z.infer<typeof LoggedRun>;

export const CommandLog = z.object({
  bases: z.array(z.array(z.string())),
  /** By the end of their tasks. */
  runs: z.array(LoggedRun),
  /** How many others there were. */
  dropped: z.int(),
});
export type CommandLog = z.infer<typeof CommandLog>;

export const NO_COMMANDS: CommandLog = { bases: [], runs: [], dropped: 0 };

/** Characters of a log in JSON. It is stored in an entry with most of the job (persistence/job-store.ts). */
const MAX_LOG_CHARS = 100_000;

/** Adds the commands that a task's node reported. The task is as it was when they were reported. */
export function withCommands(log: CommandLog, task: TaskState, reported: readonly CommandReport[]): CommandLog {
  const { id, attempt, lease } = task;
  if (!lease || reported.length === 0) return log;
  let { bases } = log;
  const runs = [...log.runs];
  for (const { argv, afterMs, stderrTail, ...run } of reported) {
    const packed = packArguments(bases, argv.map(hideUrls));
    bases = packed.bases;
    const tail = stderrTail === undefined ? {} : { stderrTail: hideUrls(stderrTail) };
    const at = { task: id, attempt, nodeId: lease.nodeId, startedAt: lease.since + afterMs };
    runs.push({ ...at, ...run, argv: packed.argv, ...tail });
  }
  return bounded({ ...log, bases, runs });
}

/** The arguments of a run in full. */
export function argumentsOf({ bases }: CommandLog, { argv: { base, except } }: LoggedRun): string[] {
  const argv = [...(bases[base] ?? [])];
  for (const [at, text] of except) argv[at] = text;
  return argv;
}

type Packed = { readonly bases: string[][]; readonly argv: z.infer<typeof Arguments> };

function packArguments(bases: string[][], argv: string[]): Packed {
  const chars = JSON.stringify(argv).length;
  for (const [base, own] of bases.entries()) {
    if (own.length !== argv.length) continue;
    const except = argv.flatMap((text, at): [number, string][] => (text === own[at] ? [] : [[at, text]]));
    if (2 * JSON.stringify(except).length < chars) return { bases, argv: { base, except } };
  }
  return { bases: [...bases, argv], argv: { base: bases.length, except: [] } };
}

/** Drops what succeeded first, the oldest first. */
function bounded(log: CommandLog): CommandLog {
  let next = log;
  while (next.runs.length > 0 && JSON.stringify(next).length > MAX_LOG_CHARS) {
    const surplus = Math.ceil(next.runs.length / 10);
    const order = [...next.runs].sort((a, b) => Number(a.exitCode !== 0) - Number(b.exitCode !== 0));
    const dropped = new Set(order.slice(0, surplus));
    const runs = next.runs.filter((run) => !dropped.has(run));
    next = withUsedBases({ ...next, runs, dropped: next.dropped + surplus });
  }
  return next;
}

function withUsedBases({ bases, runs, dropped }: CommandLog): CommandLog {
  const used = [...new Set(runs.map(({ argv }) => argv.base))];
  const renumbered = runs.map((run) => ({ ...run, argv: { ...run.argv, base: used.indexOf(run.argv.base) } }));
  return { bases: used.map((base) => bases[base] ?? []), runs: renumbered, dropped };
}
