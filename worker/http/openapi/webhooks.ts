// What clients are notified of, as OpenAPI's `webhooks`: one for each event.
import { ALWAYS_SENT, NOTIFICATION_EVENTS, type NotificationEvent } from "#shared/job/notification.ts";
import type { PayloadName } from "./components.ts";
import type { OpenApiDocument, WebhookObject } from "./document-shape.ts";
import { PAYLOAD_EXAMPLES } from "./examples/payloads.ts";
import { schemaRef } from "./json-schema.ts";

export const EVENT_MEANINGS: Readonly<Record<NotificationEvent, { payload: PayloadName; summary: string }>> = {
  "input.transferred": { payload: "InputPayload", summary: "The input was fetched and probed" },
  "input.failed": { payload: "InputPayload", summary: "The input could not be fetched, or is no media file" },
  "output.completed": { payload: "OutputPayload", summary: "An output was made and uploaded" },
  "output.failed": { payload: "OutputPayload", summary: "An output could not be made or uploaded" },
  "job.completed": { payload: "JobPayload", summary: "All outputs were made, or skipped" },
  "job.failed": { payload: "JobPayload", summary: "The job ended, and something of it failed" },
  "job.aborted": { payload: "JobPayload", summary: "A client cancelled the job" },
};

/** Of every notification by HTTP (Standard Webhooks). */
export const SIGNATURE_HEADERS: Readonly<Record<string, string>> = {
  "webhook-id": "Stable over retries: tells duplicates",
  "webhook-timestamp": "When this attempt was sent, in seconds since 1970",
  "webhook-signature": "`v1,` and the Base64 of HMAC-SHA-256 over `<id>.<timestamp>.<body>`, with the account's secret",
};

export const viewWebhooks = (): OpenApiDocument["webhooks"] =>
  Object.fromEntries(NOTIFICATION_EVENTS.map((event) => [event, viewWebhook(event)]));

function viewWebhook(event: NotificationEvent): { post: WebhookObject } {
  const { payload, summary } = EVENT_MEANINGS[event];
  const example = PAYLOAD_EXAMPLES[event];
  return {
    post: {
      summary,
      description: ALWAYS_SENT.has(event) ? "Always sent." : "Sent if the job's notification has `events: true`.",
      security: [],
      parameters: Object.entries(SIGNATURE_HEADERS).map(([name, description]) => ({
        ...{ name, in: "header", description, required: true, schema: { type: "string" } },
      })),
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: { $ref: schemaRef(payload) }, examples: { [event]: { value: example } } },
        },
      },
      responses: {
        "2XX": { description: "Delivered" },
        "410": { description: "Not delivered, and never to be tried again" },
        default: { description: "Not delivered; tried again later" },
      },
    },
  };
}
