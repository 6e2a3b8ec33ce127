// /v2/notifications/test: an example of an event. /v2/account/webhook-secret: a new secret.
import { Hono } from "hono";
import { TestBody } from "#shared/api/notification-requests.ts";
import { randomText } from "#shared/ids.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { type ClientEnv, clientAuth } from "../auth/auth.ts";
import { readBody } from "../body/read-body.ts";
import { PAYLOAD_EXAMPLES } from "../openapi/examples/payloads.ts";
import { JOB_ID } from "../openapi/examples/responses.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { sendWebhook } from "../webhooks/send-webhook.ts";
import { rotateWebhookSecret } from "../webhooks/webhook-secrets.ts";

/** The job id of examples. It lets receivers distinguish examples from events. */
const TEST_JOB_ID = "0".repeat(JOB_ID.length);

export const notifications = new Hono<ClientEnv>({ strict: false }).use(clientAuth).post("/test", async (context) => {
  const { url, event } = await readBody(context.req, TestBody, "request_not_valid");
  const body = JSON.stringify(PAYLOAD_EXAMPLES[event]).replaceAll(JOB_ID, TEST_JOB_ID);
  return jsonResponse(context, await sendWebhook(context, { id: `test_${randomText(14, randomBytes)}`, body }, url));
});

export const account = new Hono<ClientEnv>({ strict: false })
  .use(clientAuth)
  .post("/webhook-secret", async (context) =>
    jsonResponse(context, await rotateWebhookSecret(context.env, context.get("account"))),
  );
