// copra batch: creates the jobs of a file.
import * as z from "zod";
import { BATCH_JOBS } from "#shared/api/job-batch.ts";
import type { Batch, BatchResult } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { textOption } from "../context.ts";
import { readJsonOption } from "../encode/job-request.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../terminal/printable.ts";

/** The service checks the jobs. */
const Jobs = z.array(z.looseObject({})).min(1);
const BatchFile = z.union([
  z.looseObject({ jobs: Jobs }),
  Jobs.transform((jobs): { jobs: z.infer<typeof Jobs> } => ({ jobs })),
]);

/** Prints the id or the error of each job, in the order of the file. A file may have more jobs than a request. */
export const batch: Run = async (context, [path = ""], options) => {
  const { output, signal } = context;
  const { jobs, ...rest } = readJsonOption(path, BatchFile, "a list of jobs, or an object with jobs");
  const { copra } = await clientOf(context);
  const template = textOption(options, "template");
  const key = textOption(options, "idempotencyKey");
  const isCheck = options.dryRun === true;
  const results: BatchResult["jobs"][number][] = [];
  for (let at = 0; at < jobs.length; at += BATCH_JOBS) {
    const request: Batch = { ...rest, ...(template && { template }), jobs: jobs.slice(at, at + BATCH_JOBS) };
    const answer = isCheck
      ? await copra.jobs.checkMany(request, { signal })
      : await copra.jobs.createMany(request, { signal, ...(key && { idempotencyKey: `${key}-${at}` }) });
    results.push(...answer.jobs);
    for (const result of answer.jobs) output.line(result, () => lineOf(result));
  }
  const failed = results.filter((result) => "error" in result).length;
  output.words(`${results.length - failed} of ${results.length} jobs ${isCheck ? "are valid" : "are created"}`);
  return failed > 0 ? EXIT.failed : EXIT.done;
};

function lineOf(result: BatchResult["jobs"][number]): string {
  if ("error" in result) return `error: ${printable(result.error.message)}`;
  return "id" in result ? result.id : "valid";
}
