// /v2/jobs/:id/notifications: the log, and replay. Tests of endpoints, and the secret that signs.
import { DeliveryView, NotificationLog } from "#shared/api/job-responses.ts";
import { EndpointResult, ReplayBody, TestBody } from "#shared/api/notification-requests.ts";
import { RotatedSecret } from "#shared/api/operator-responses.ts";
import { ID } from "../jobs/jobs.operations.ts";
import { RESPONSE_EXAMPLES } from "../operation/examples/responses.ts";
import { operations, pathParameter, success } from "../operation/operation.ts";

const NOTIFICATION_ID = pathParameter("nid", "The id of the notification", RESPONSE_EXAMPLES.Delivery.id);

export const NOTIFICATION_OPERATIONS = operations({ tag: "Notifications", path: [ID, NOTIFICATION_ID] })({
  listNotifications: {
    route: "GET /v2/jobs/:id/notifications",
    access: ["jobs:read"],
    summary: "Read the log of notifications",
    responses: [success(200, "The log", NotificationLog)],
    codes: ["job_not_found", "notification_not_found"],
  },
  replayNotification: {
    route: "POST /v2/jobs/:id/notifications/:nid/replay",
    access: "unscoped-key",
    summary: "Send a notification again",
    description:
      "Sends the same bytes with the same id. Restarts the schedule of attempts; the log continues to count them. " +
      "At most once per minute for each notification. With a `url`, it is sent once to that URL, immediately, as a webhook " +
      "that the account's secret signs; the notification of the job stays as it is, and `response` is the response of the URL.",
    body: {
      json: ReplayBody,
      isOptional: true,
      examples: {
        same: { summary: "To the URL of the job", value: {} },
        other: { summary: "To another URL", value: { url: "https://staging.example.com/hook" } },
      },
    },
    responses: [success(200, "The notification, which is due; with a `url` it was sent", DeliveryView)],
    codes: ["job_not_found", "notification_not_found"],
  },
  testNotification: {
    route: "POST /v2/notifications/test",
    access: "unscoped-key",
    summary: "Send an example of an event to a URL",
    description:
      "As a webhook that the account's secret signs, about a job whose id is 14 zeros. Waits up to 15 seconds for the " +
      "response and returns it, whatever it is. Redirects are not followed. 20 tests and replays to other URLs a minute.",
    body: {
      json: TestBody,
      examples: {
        completed: { summary: "The end of a job", value: { url: "https://example.com/hook" } },
        failed: {
          summary: "An output that failed",
          value: { url: "https://example.com/hook", event: "output.failed" },
        },
      },
    },
    responses: [success(200, "The response of the URL", EndpointResult)],
  },
  renewWebhookSecret: {
    route: "POST /v2/account/webhook-secret",
    access: "unscoped-key",
    summary: "Create a new webhook secret",
    description:
      "For 24 hours, notifications have signatures with both the new and the previous secret. After another rotation " +
      "within this time, they have signatures with the last two secrets.",
    responses: [success(200, "The new secret", RotatedSecret)],
    codes: ["account_state_conflict"],
  },
});
