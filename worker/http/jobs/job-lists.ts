// /v2/jobs: list; /v2/jobs/counts; /v2/jobs/batch; /v2/jobs/cancel and /v2/jobs/retry for many jobs.

import type { Context } from "hono";
import { BatchBody, MAX_BATCH_BYTES } from "#shared/api/job-batch.ts";
import { BulkBody, type BulkResult, type JobCounts } from "#shared/api/job-lists.ts";
import type { JobList } from "#shared/api/job-responses.ts";
import type { JobStatus } from "#shared/job/job-status.ts";
import { readTraceContext } from "#shared/network/trace-context.ts";
import { countJobs } from "../../db/jobs/job-counts.ts";
import { listJobs, listPlaces } from "../../db/jobs/job-list.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { readBody } from "../body/read-body.ts";
import { DryRunSwitch } from "../dry-run/assumed-source.ts";
import { mount } from "../operation/mount.ts";
import { cursorOf, filterOf, parseCountQuery, parseListQuery, placeOf } from "../query/list-query.ts";
import { parseQuery } from "../query/parse-query.ts";
import { jsonResponse, polledJson } from "../responses/json-response.ts";
import { creatorOf } from "./create/new-job.ts";
import { actOnJobs, cancelJob, retryJob } from "./job-actions.ts";
import { createBatch } from "./job-batch.ts";
import { JOB_LIST_OPERATIONS } from "./job-lists.operations.ts";

export const jobLists = mount(JOB_LIST_OPERATIONS, {
  countJobs: async (context) => {
    const filter = parseCountQuery(context.req.query());
    const { counts, isCapped } = await countJobs(context.env.DB, context.get("account").id, filter);
    return jsonResponse(context, { counts, capped: isCapped } satisfies JobCounts);
  },
  createJobs: async (context) => {
    const { dry_run: isDryRun } = parseQuery(DryRunSwitch, context.req.query());
    const batch = await readBody(context.req, BatchBody, "request_not_valid", MAX_BATCH_BYTES);
    const key = context.req.header("idempotency-key") ?? null;
    const trace = readTraceContext(context.req.raw.headers);
    return jsonResponse(context, await createBatch(creatorOf(context), batch, { key, trace, isDryRun }));
  },
  cancelJobs: (context) => bulk(context, cancelJob, ["job.starting"]),
  retryJobs: (context) => bulk(context, retryJob, ["job.failed", "job.aborted"]),
});

/** GET /v2/jobs. */
export async function listPage(context: Context<ClientEnv>): Promise<Response> {
  const wanted = parseListQuery(context.req.query());
  const { jobs, next } = await listJobs(context.env.DB, context.get("account").id, wanted);
  const list: JobList = {
    jobs: jobs.map(({ view }) => JSON.parse(view)),
    next_cursor: next && cursorOf(next, wanted.filter.sort),
  };
  return polledJson(context, JSON.stringify(list));
}

/** `possible`: the statuses that allow the action. They replace a missing status in the filter. */
async function bulk(
  context: Context<ClientEnv>,
  action: typeof cancelJob,
  possible: readonly JobStatus[],
): Promise<Response> {
  const { ids, filter, limit, cursor } = await readBody(context.req, BulkBody, "request_not_valid");
  if (filter === undefined) {
    const jobs = await actOnJobs(context, [...new Set(ids)], action);
    return jsonResponse(context, { jobs, has_more: false, next_cursor: null } satisfies BulkResult);
  }
  const wanted = { filter: filterOf(filter, filter.status ?? possible), after: placeOf(cursor), limit };
  const { jobs: places, next } = await listPlaces(context.env.DB, context.get("account").id, wanted);
  const ofFilter = places.map(({ id }) => id);
  const jobs = await actOnJobs(context, ofFilter, action);
  return jsonResponse(context, {
    jobs,
    has_more: next !== null,
    next_cursor: next && cursorOf(next),
  } satisfies BulkResult);
}
