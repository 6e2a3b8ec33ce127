// /v2/jobs: create and list. /v2/jobs/:id: read, follow, cancel, retry.

import type { Context } from "hono";
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { isTerminalJob, JOB_STATUSES } from "#shared/job/job-status.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { TagChanges } from "#shared/job/tags.ts";
import { readTraceContext } from "#shared/network/trace-context.ts";
import { isObject } from "#shared/request/parse-section.ts";
import { JobChanges } from "#shared/request/settings-section.ts";
import type { Result } from "#shared/result.ts";
import type { JobRow } from "../../db/jobs/jobs.ts";
import { withDeadline } from "../../deadline.ts";
import { follow } from "../../events/socket-stream.ts";
import { ExpiringMap } from "../../expiring-map.ts";
import { endedEvents } from "../../job/events/event-text.ts";
import { newJob } from "../../job/state/job-state.ts";
import { viewJob } from "../../job/views/job-view.ts";
import { JOB_NOT_FOUND, type JobResult, jobOf } from "../../rpc/job.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { requireJobScope } from "../auth/scopes.ts";
import { parseBody, parseJson, readBytes } from "../body/read-body.ts";
import { assumedSource, parseDryRun, probedSource } from "../dry-run/assumed-source.ts";
import { dryRun } from "../dry-run/dry-run.ts";
import { mount } from "../operation/mount.ts";
import { eventStream } from "../responses/event-stream.ts";
import { errorResponse, jsonResponse, polledJson } from "../responses/json-response.ts";
import { createJob, readRequest } from "./create/create-job.ts";
import { creatorOf, requireValidKey, settle } from "./create/new-job.ts";
import { cancelJob, changeJob, retryJob } from "./job-actions.ts";
import { listPage } from "./job-lists.ts";
import { JOB_OPERATIONS } from "./jobs.operations.ts";
import { ownJob } from "./own-job.ts";
import { probeOf } from "./probes.ts";

/**
 * Jobs that ran when they were last read: a poll needs no row. Only objects of jobs that exist are asked: an object that
 * is asked for another job leaves an empty database behind.
 */
const running = new ExpiringMap<true>(60_000, 5000);

export const jobs = mount(JOB_OPERATIONS, {
  createJob: async (context) => {
    const assumed = parseDryRun(context.req.query());
    const bytes = await readBytes(context.req);
    const key = context.req.header("idempotency-key") ?? null;
    const body = parseJson(bytes);
    requireJobScope(context.get("scopes"), body);
    const creator = creatorOf(context);
    const request = await readRequest(creator, body);
    if (assumed) {
      const source =
        assumed.probe === undefined ? assumedSource(assumed) : probedSource(await probeOf(context, assumed.probe));
      return jsonResponse(context, dryRun(request, source));
    }
    requireValidKey(key);
    const trace = readTraceContext(context.req.raw.headers);
    const spec = await createJob(creator, request, { body: bytes, key, trace });
    // The response depends only on the body, its template, the id and the time. A repeated request receives the same
    // response while the template stays the same.
    return jsonResponse(context, viewJob(newJob(spec)), 201);
  },
  listJobs: listPage,
  getJob: async (context) => {
    const id = context.req.param("id");
    const account = context.get("account").id;
    const key = `${account} ${id}`;
    const readAt = Date.now();
    if (!running.get(key, readAt)) {
      const row = await ownJob(context, id);
      if (hasEnded(row)) return polledJson(context, row.view);
    }
    const viewed = await settle(withDeadline<JobResult<JobView>>("view", jobOf(context.env, id).view(account)));
    if (viewed.ok && viewed.value.ok) {
      const { value: view } = viewed.value;
      if (!isTerminalJob(view.status)) running.set(key, true, readAt);
      return polledJson(context, JSON.stringify(view));
    }
    // The object has forgotten the job, or cannot read it.
    running.delete(key);
    const row = await ownJob(context, id);
    if (hasEnded(row)) return polledJson(context, row.view);
    if (!viewed.ok) throw viewed.error;
    throw AppError.from(viewed.value.ok ? JOB_NOT_FOUND : viewed.value.error);
  },
  changeJob: async (context) => {
    const row = await ownJob(context, context.req.param("id"));
    const body = parseJson(await readBytes(context.req));
    // Errors of tags have a code of their own.
    if (isObject(body)) parseBody(body, z.object({ tags: TagChanges.exactOptional() }), "tags_not_valid");
    return changed(context, await changeJob(context, row, parseBody(body, JobChanges, "settings_not_valid")));
  },
  cancelJob: async (context) => act(context, cancelJob),
  followJob: async (context) => {
    const row = await ownJob(context, context.req.param("id"));
    if (hasEnded(row)) return eventStream(endedEvents(row.view));
    return eventStream(await follow(jobOf(context.env, row.id), context.req.raw));
  },
  retryJob: async (context) => act(context, retryJob),
});

/** Cancels or retries the job of the path. */
async function act(context: Context<ClientEnv, "/:id">, action: typeof cancelJob): Promise<Response> {
  return changed(context, await action(context, await ownJob(context, context.req.param("id"))));
}

/** The changed job. An API key that may not read jobs gets only its id and status. */
function changed(context: Context<ClientEnv>, done: Result<JobView>): Response {
  if (!done.ok) return errorResponse(context, done.error.code, done.error.message);
  const { id, status } = done.value;
  const mayRead = context.get("scopes")?.includes("jobs:read") ?? true;
  return jsonResponse(context, mayRead ? done.value : { id, status });
}

/** True if the job has ended. Then its object may be deleted, and responses come from the row. */
function hasEnded(row: JobRow): boolean {
  const status = JOB_STATUSES.find((known) => known === row.status);
  return status !== undefined && isTerminalJob(status);
}
