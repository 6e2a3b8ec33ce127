// copra jobs cancel and copra jobs retry: change jobs by id, or all jobs that a filter selects.
import { createInterface } from "node:readline/promises";
import type { BulkResult, Copra, Job, JobFilter, JobSelection } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { type Context, numberOption, type Options } from "../context.ts";
import { CommandError, EXIT, exitCodeOfStatus, usageError } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { filterOf } from "./list.ts";

/** Maximum number of jobs that the service changes in a request. */
const BATCH = 100;

type Change = (copra: Copra, jobs: JobSelection, signal: AbortSignal) => Promise<BulkResult>;

export const cancelJobs: Run = (context, ids, options) =>
  changeJobs(context, ids, options, "Cancel", (copra, jobs, signal) => copra.jobs.cancelMany(jobs, { signal }));

export const retryJobs: Run = (context, ids, options) =>
  changeJobs(context, ids, options, "Retry", (copra, jobs, signal) => copra.jobs.retryMany(jobs, { signal }));

export const moveJobs: Run = async (context, ids, options) => {
  const priority = numberOption(options, "priority", "--priority");
  const { copra } = await clientOf(context);
  const jobs: Job[] = [];
  for (const id of ids) jobs.push(await copra.jobs.setPriority(id, priority, { signal: context.signal }));
  context.output.data({ jobs }, () => table(jobs.map(({ id, state = "" }) => [id, state])));
};

async function changeJobs(
  context: Context,
  ids: readonly string[],
  options: Options,
  verb: string,
  change: Change,
): Promise<number> {
  const { output, now, signal } = context;
  const filter = filterOf(options, now());
  const hasFilter = Object.keys(filter).length > 0;
  if (hasFilter === ids.length > 0)
    throw usageError("Name either the ids of jobs, or a filter such as --status failed");
  const { copra } = await clientOf(context);
  if (hasFilter && options.yes !== true) await confirm(context, `${verb} all jobs that match?`);
  const jobs: Changed[] = [];
  const changeBatch: ChangeBatch = async (selection) => {
    const batch = await change(copra, selection, signal);
    jobs.push(...batch.jobs);
    return batch;
  };
  // Print the jobs changed before a batch failed, too.
  const failure = await (hasFilter ? byFilter(changeBatch, filter) : byIds(changeBatch, ids)).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  if (failure && jobs.length === 0) throw failure.error;
  output.data({ jobs }, () =>
    table(jobs.map(({ id, status, error }) => [id, status ?? "", error ? printable(error.message) : ""])),
  );
  if (failure) throw failure.error;
  const failed = jobs.filter(({ error }) => error);
  // A single job: its error decides the exit code, as in commands for a single job.
  if (jobs.length === 1 && failed.length === 1) return codeOf(failed[0]?.error?.error_code ?? "");
  return failed.length > 0 ? EXIT.failed : EXIT.done;
}

type Changed = BulkResult["jobs"][number];
type ChangeBatch = (jobs: JobSelection) => Promise<BulkResult>;

async function byIds(change: ChangeBatch, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += BATCH) await change({ ids: ids.slice(at, at + BATCH) });
}

/** Changes batch after batch, and each job once. An empty batch does not mean the end. */
async function byFilter(change: ChangeBatch, filter: JobFilter): Promise<void> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    cursor = (await change({ filter, limit: BATCH, cursor })).next_cursor ?? null;
  }
}

const codeOf = (errorCode: string): number =>
  exitCodeOfStatus(errorCode.endsWith("_not_found") ? 404 : errorCode === "service_unavailable" ? 503 : 409);

/** Asks for a confirmation on a terminal. Without a terminal, requires `--yes`. */
async function confirm({ input, output, signal }: Context, question: string): Promise<void> {
  if (!input.isTTY) throw usageError("Without a terminal, changing jobs by a filter needs --yes");
  const readline = createInterface({ input, output: process.stderr });
  try {
    const answer = await readline.question(`${question} [y/N] `, { signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError(EXIT.usage, "Nothing was changed");
  } finally {
    readline.close();
    output.words("");
  }
}
