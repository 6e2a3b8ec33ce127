// /v2/jobs: create, and the routes of job-lists.ts. /v2/jobs/:id: read, follow, cancel, retry.
// /v2/jobs/:id/notifications.

import { type Context, Hono } from "hono";
import * as z from "zod";
import type { DeliveryView, NotificationLog } from "#shared/api/job-responses.ts";
import { ReplayBody } from "#shared/api/notification-requests.ts";
import { isTerminalJob, JOB_STATUSES } from "#shared/job/job-status.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { TagChanges } from "#shared/job/tags.ts";
import { readTraceContext } from "#shared/network/trace-context.ts";
import { isObject } from "#shared/request/parse-section.ts";
import { JobChanges } from "#shared/request/settings-section.ts";
import { ok, type Result } from "#shared/result.ts";
import type { JobRow } from "../../db/jobs.ts";
import { follow } from "../../events/socket-stream.ts";
import { endedEvents } from "../../job/events/event-text.ts";
import { newJob } from "../../job/state/job-state.ts";
import { viewJob } from "../../job/views/job-view.ts";
import { withDeadline } from "../../rpc/deadline.ts";
import { type JobResult, jobOf } from "../../rpc/job.ts";
import { type ClientEnv, clientAuth } from "../auth/auth.ts";
import { requireJobScope } from "../auth/scopes.ts";
import { parseBody, parseJson, readBytes, readOptionalBody } from "../body/read-body.ts";
import { assumedSource, parseDryRun, probedSource } from "../dry-run/assumed-source.ts";
import { dryRun } from "../dry-run/dry-run.ts";
import { eventStream } from "../responses/event-stream.ts";
import { errorResponse, jsonResponse } from "../responses/json-response.ts";
import { sendWebhook } from "../webhooks/send-webhook.ts";
import { createJob, readRequest } from "./create/create-job.ts";
import { creatorOf, requireValidKey } from "./create/new-job.ts";
import { cancelJob, changeJob, retryJob } from "./job-actions.ts";
import { jobFacts } from "./job-facts.ts";
import { jobLists } from "./job-lists.ts";
import { ownJob } from "./own-job.ts";
import { probeOf } from "./probes.ts";

export const jobs = new Hono<ClientEnv>({ strict: false })
  .use(clientAuth)
  .route("/", jobLists)
  .route("/", jobFacts)
  .post("/", async (context) => {
    const assumed = parseDryRun(context.req.query());
    const bytes = await readBytes(context.req);
    const key = context.req.header("idempotency-key") ?? null;
    const body = parseJson(bytes);
    requireJobScope(context.get("scopes"), body);
    const creator = creatorOf(context);
    const request = await readRequest(creator, body, key);
    if (assumed) {
      const source =
        assumed.probe === undefined ? assumedSource(assumed) : probedSource(await probeOf(context, assumed.probe));
      return jsonResponse(context, dryRun(request, source));
    }
    requireValidKey(key);
    const trace = readTraceContext(context.req.raw.headers);
    const spec = await createJob(creator, request, { body: bytes, key, trace });
    // The response depends only on the body, the id and the time. A repeated request receives the same response.
    return jsonResponse(context, viewJob(newJob(spec)), 201);
  })
  .get("/:id", async (context) => {
    const row = await ownJob(context, context.req.param("id"));
    if (hasEnded(row)) return jsonResponse(context, JSON.parse(row.view));
    const viewed = await withDeadline<JobResult<JobView>>("view", jobOf(context.env, row.id).view());
    return viewed.ok
      ? jsonResponse(context, viewed.value)
      : errorResponse(context, viewed.error.code, viewed.error.message);
  })
  .patch("/:id", async (context) => {
    const row = await ownJob(context, context.req.param("id"));
    const body = parseJson(await readBytes(context.req));
    // Errors of tags have a code of their own.
    if (isObject(body)) parseBody(body, z.object({ tags: TagChanges.exactOptional() }), "tags_not_valid");
    return changed(context, await changeJob(context, row, parseBody(body, JobChanges, "settings_not_valid")));
  })
  .delete("/:id", async (context) => act(context, cancelJob))
  .get("/:id/events", async (context) => {
    const row = await ownJob(context, context.req.param("id"));
    if (hasEnded(row)) return eventStream(endedEvents(row.view));
    return eventStream(await follow(jobOf(context.env, row.id), context.req.raw));
  })
  .post("/:id/retry", async (context) => act(context, retryJob))
  .get("/:id/notifications", async (context) => {
    const { id } = await ownJob(context, context.req.param("id"));
    const log = await withDeadline<JobResult<DeliveryView[]>>("notifications", jobOf(context.env, id).notifications());
    return log.ok
      ? jsonResponse(context, { job_id: id, notifications: log.value } satisfies NotificationLog)
      : errorResponse(context, ...NO_NOTIFICATIONS);
  })
  .post("/:id/notifications/:nid/replay", async (context) => {
    const { url } = await readOptionalBody(context.req, ReplayBody, "request_not_valid");
    const job = jobOf(context.env, (await ownJob(context, context.req.param("id"))).id);
    const nid = context.req.param("nid");
    if (url === undefined) return replayed(context, await withDeadline<Replayed>("replay", job.replay(nid)));
    const found = await withDeadline<JobResult<Notification>>("notification", job.notification(nid));
    if (!found.ok) return replayed(context, found);
    const { view, body } = found.value;
    return replayed(context, ok({ ...view, response: await sendWebhook(context, { id: nid, body }, url) }));
  });

type Replayed = JobResult<DeliveryView>;
type Notification = { view: DeliveryView; body: string };

function replayed(context: Context<ClientEnv>, sent: Replayed): Response {
  if (sent.ok) return jsonResponse(context, sent.value);
  return sent.error.code === "job_not_found"
    ? errorResponse(context, ...NO_NOTIFICATIONS)
    : errorResponse(context, sent.error.code, sent.error.message, sent.error.retryAfterSeconds ?? null);
}

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

/** The error for a job without an object: only its row remains. */
const NO_NOTIFICATIONS = ["notification_not_found", "The notifications of this job were deleted"] as const;

/** True if the job has ended. Then its object may be deleted, and responses come from the row. */
function hasEnded(row: JobRow): boolean {
  const status = JOB_STATUSES.find((known) => known === row.status);
  return status !== undefined && isTerminalJob(status);
}
