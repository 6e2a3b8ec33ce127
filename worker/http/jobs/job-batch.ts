// Creates many jobs in a request, with few calls: a query for each group of jobs, and a call to each job's object.

import type { BatchBody, BatchResult } from "#shared/api/job-batch.ts";
import { AppError } from "#shared/errors.ts";
import type { TraceContext } from "#shared/network/trace-context.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { Template } from "#shared/template/expand-template.ts";
import { isTooDeep, mergePatch } from "#shared/template/merge-patch.ts";
import { MAX_BODY_BYTES } from "../body/read-body.ts";
import { createJobs, type NewRequest, readRequest } from "./create/create-job.ts";
import { findOwnTemplate } from "./create/job-template.ts";
import { type JobCreator, keyInBatch, requireValidKey, settle } from "./create/new-job.ts";
import { failureOfOne } from "./job-actions.ts";

/** Jobs that are stored together. A batch stays far below 1,000 queries and 10,000 subrequests (Workers limits). */
const GROUP = 25;
/** Each job that reads an upload needs two queries more. */
const MAX_UPLOADS = 200;
const MAX_DEFAULTS_BYTES = 64 * 2 ** 10;

type BatchOptions = {
  readonly key: string | null;
  readonly trace: TraceContext | null;
  /** Only checks the jobs. */
  readonly isDryRun: boolean;
};

/** Creates the jobs of a batch, in order. A job that is not valid has an error, and the others are created. */
export async function createBatch(
  creator: JobCreator,
  batch: BatchBody,
  { key, trace, isDryRun }: BatchOptions,
): Promise<BatchResult> {
  requireValidKey(key);
  const defaults = { ...(batch.template === undefined ? {} : { template: batch.template }), ...batch.defaults };
  const bytes = new TextEncoder().encode(JSON.stringify(defaults)).length;
  if (bytes > MAX_DEFAULTS_BYTES || isTooDeep(defaults)) {
    throw new AppError("request_not_valid", "`defaults` must have at most 64 KiB, and not be nested too deeply");
  }
  const templates = new Map<string, Promise<Template>>();
  const find = (ref: unknown): Promise<Template> => {
    const known = templates.get(String(ref));
    const template = known ?? findOwnTemplate(creator, ref);
    templates.set(String(ref), template);
    return template;
  };
  const jobs: BatchResult["jobs"] = [];
  let uploads = 0;
  const read = async (job: object, at: number): Promise<NewRequest> => {
    if (isTooDeep(job)) throw new AppError("json_not_valid", "The job is nested too deeply");
    const merged = mergePatch(defaults, job);
    const body = new TextEncoder().encode(JSON.stringify(merged));
    if (body.length > MAX_BODY_BYTES) throw new AppError("body_too_large", "The job is larger than 1 MiB");
    const request = await readRequest(creator, merged, find);
    if (request.input.kind === "upload") uploads += 1;
    if (uploads > MAX_UPLOADS) {
      throw new AppError(
        "input_not_valid",
        `\`input.upload\`: at most ${MAX_UPLOADS} jobs of a batch may read uploads`,
      );
    }
    return { request, body, key: key === null ? null : keyInBatch(key, at), trace };
  };
  for (let start = 0; start < batch.jobs.length; start += GROUP) {
    const group = batch.jobs.slice(start, start + GROUP);
    const requests = await Promise.all(group.map((job, at) => settle(read(job, start + at))));
    const done = isDryRun ? requests : await createGroup(creator, requests);
    jobs.push(...done.map(viewOne));
  }
  return isDryRun ? { dry_run: true, jobs } : { jobs };
}

function viewOne(one: Result<string | NewRequest, unknown>): BatchResult["jobs"][number] {
  if (one.ok) return typeof one.value === "string" ? { id: one.value } : { valid: true };
  const { code, message } = failureOfOne(one.error);
  return { error: { error_code: code, message } };
}

/** The id or the error of each request. If the group as a whole fails, all its requests have this error. */
async function createGroup(
  creator: JobCreator,
  requests: readonly Result<NewRequest, unknown>[],
): Promise<Result<string, unknown>[]> {
  const valid = requests.flatMap((request) => (request.ok ? request.value : []));
  const created = await settle(createJobs(creator, valid));
  return requests.map((request): Result<string, unknown> => {
    if (!request.ok) return request;
    if (!created.ok) return created;
    const spec = created.value.get(request.value);
    return spec?.ok ? ok(spec.value.id) : err(spec?.error);
  });
}
