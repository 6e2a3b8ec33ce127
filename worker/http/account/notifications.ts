// The log of a job's notifications, and replay. An example of an event. A new webhook secret.
import type { Context } from "hono";
import type { DeliveryView, NotificationLog } from "#shared/api/job-responses.ts";
import { ReplayBody, TestBody } from "#shared/api/notification-requests.ts";
import { randomText } from "#shared/ids.ts";
import { ok } from "#shared/result.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { withDeadline } from "../../deadline.ts";
import { type JobResult, jobOf } from "../../rpc/job.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { readBody, readOptionalBody } from "../body/read-body.ts";
import { ownJob } from "../jobs/own-job.ts";
import { PAYLOAD_EXAMPLES } from "../operation/examples/payloads.ts";
import { JOB_ID } from "../operation/examples/responses.ts";
import { mount } from "../operation/mount.ts";
import { errorResponse, jsonResponse } from "../responses/json-response.ts";
import { sendWebhook } from "../webhooks/send-webhook.ts";
import { rotateWebhookSecret } from "../webhooks/webhook-secrets.ts";
import { NOTIFICATION_OPERATIONS } from "./notifications.operations.ts";

/** The job id of examples. It lets receivers distinguish examples from events. */
const TEST_JOB_ID = "0".repeat(JOB_ID.length);

export const notifications = mount(NOTIFICATION_OPERATIONS, {
  listNotifications: async (context) => {
    const { id } = await ownJob(context, context.req.param("id"));
    const log = await withDeadline<JobResult<DeliveryView[]>>("notifications", jobOf(context.env, id).notifications());
    return log.ok
      ? jsonResponse(context, { job_id: id, notifications: log.value } satisfies NotificationLog)
      : errorResponse(context, ...NO_NOTIFICATIONS);
  },
  replayNotification: async (context) => {
    const { url } = await readOptionalBody(context.req, ReplayBody, "request_not_valid");
    const job = jobOf(context.env, (await ownJob(context, context.req.param("id"))).id);
    const nid = context.req.param("nid");
    if (url === undefined) return replayed(context, await withDeadline<Replayed>("replay", job.replay(nid)));
    const result = await withDeadline<JobResult<Notification>>("notification", job.notification(nid));
    if (!result.ok) return replayed(context, result);
    const { view, body } = result.value;
    return replayed(context, ok({ ...view, response: await sendWebhook(context, { id: nid, body }, url) }));
  },
  testNotification: async (context) => {
    const { url, event } = await readBody(context.req, TestBody, "request_not_valid");
    const body = JSON.stringify(PAYLOAD_EXAMPLES[event]).replaceAll(JOB_ID, TEST_JOB_ID);
    return jsonResponse(context, await sendWebhook(context, { id: `test_${randomText(14, randomBytes)}`, body }, url));
  },
  renewWebhookSecret: async (context) =>
    jsonResponse(context, await rotateWebhookSecret(context.env, context.get("account"))),
});

type Replayed = JobResult<DeliveryView>;
type Notification = { view: DeliveryView; body: string };

function replayed(context: Context<ClientEnv>, sent: Replayed): Response {
  if (sent.ok) return jsonResponse(context, sent.value);
  return sent.error.code === "job_not_found"
    ? errorResponse(context, ...NO_NOTIFICATIONS)
    : errorResponse(context, sent.error.code, sent.error.message, sent.error.retryAfterSeconds ?? null);
}

/** The error for a job without an object: only its row remains. */
const NO_NOTIFICATIONS = ["notification_not_found", "The notifications of this job were deleted"] as const;
