// /v2/jobs/counts; /v2/jobs/cancel and /v2/jobs/retry for many jobs.
import { BatchBody, BatchResult } from "#shared/api/job-batch.ts";
import { BulkBody, BulkResult, JobCounts } from "#shared/api/job-lists.ts";
import { DryRunSwitch } from "../dry-run/assumed-source.ts";
import { BULK_REQUESTS } from "../operation/examples/job-requests.ts";
import { BATCH } from "../operation/examples/templates.ts";
import { operations, queryParameters, success, TAG_PARAMETERS } from "../operation/operation.ts";
import { CountParameters } from "../query/list-query.ts";
import { IDEMPOTENCY_KEY, TRACE_HEADERS } from "./jobs.operations.ts";

const BULK = {
  access: ["jobs:create", "jobs:read"],
  body: { json: BulkBody, examples: BULK_REQUESTS },
  responses: [success(200, "The result for each job", BulkResult)],
} as const;

export const JOB_LIST_OPERATIONS = operations({ tag: "Jobs" })({
  countJobs: {
    route: "GET /v2/jobs/counts",
    access: ["jobs:read"],
    summary: "Count jobs",
    description:
      "The numbers of the account's jobs by status. Of each status at most the newest 10,000 jobs are counted; with tags, " +
      "the newest 10,000 jobs with one of them; with `q`, the jobs of the newest 2,000 that contain the text. `capped` reports that there are more.",
    parameters: [...queryParameters(CountParameters), TAG_PARAMETERS],
    responses: [success(200, "The numbers", JobCounts)],
  },
  createJobs: {
    route: "POST /v2/jobs/batch",
    isUnaudited: true,
    access: ["jobs:create"],
    summary: "Create many jobs",
    description:
      "Creates up to 500 jobs, each merged over `defaults` (JSON Merge Patch, RFC 7396). A job that is not valid, or beyond the " +
      "limit of unfinished jobs, has an `error` in its place; the others are created. With an `Idempotency-Key`, each job has " +
      "a key of its own, from this key and its place, so a repeated batch creates only the missing jobs. The body may have 5 MiB, `defaults` 64 KiB, " +
      "each job 1 MiB. With `dry_run=true`, the jobs are only checked.",
    parameters: [IDEMPOTENCY_KEY, ...queryParameters(DryRunSwitch), ...TRACE_HEADERS],
    body: { json: BatchBody, examples: { template: { summary: "Jobs from a template", value: BATCH } } },
    responses: [success(200, "The id or the error of each job", BatchResult)],
    codes: ["idempotency_key_not_valid", "sealing_key_missing"],
  },
  cancelJobs: {
    ...BULK,
    route: "POST /v2/jobs/cancel",
    summary: "Cancel many jobs",
    description:
      "Cancels up to 100 jobs: the jobs of `ids`, or the newest of a filter, whose default status is `job.starting`. Each " +
      "job has its own result. While `has_more` is true, repeat the request with `next_cursor` as the `cursor`.",
  },
  retryJobs: {
    ...BULK,
    route: "POST /v2/jobs/retry",
    summary: "Retry many jobs",
    description:
      "Restarts up to 100 jobs: the jobs of `ids`, or the newest of a filter, whose default statuses are `job.failed` and " +
      "`job.aborted`. Each job has its own result. While `has_more` is true, repeat the request with `next_cursor` as the " +
      "`cursor`.",
    parameters: TRACE_HEADERS,
  },
});
