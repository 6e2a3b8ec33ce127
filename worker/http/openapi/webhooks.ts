// The notifications as `webhooks` of OpenAPI: an entry per event.
import type * as z from "zod";
import { ALWAYS_SENT, NOTIFICATION_EVENTS, type NotificationEvent } from "#shared/job/notification.ts";
import { InputPayload, JobPayload, OutputPayload } from "#shared/job/notification-payload.ts";
import { PAYLOAD_EXAMPLES } from "../operation/examples/payloads.ts";
import { refTo } from "./json-schema.ts";

export const EVENT_DESCRIPTIONS: Readonly<Record<NotificationEvent, { payload: z.ZodType; summary: string }>> = {
  "input.transferred": { payload: InputPayload, summary: "The input was fetched and probed" },
  "input.failed": { payload: InputPayload, summary: "The input could not be fetched or read, or is not a media file" },
  "output.completed": { payload: OutputPayload, summary: "An output was created and uploaded" },
  "output.failed": { payload: OutputPayload, summary: "An output could not be created or uploaded" },
  "job.completed": { payload: JobPayload, summary: "All outputs were created or skipped" },
  "job.failed": { payload: JobPayload, summary: "The job ended, and the input or at least one output failed" },
  "job.aborted": { payload: JobPayload, summary: "A client canceled the job" },
};

/** Headers of all notifications by HTTP (Standard Webhooks). */
export const SIGNATURE_HEADERS: Readonly<Record<string, string>> = {
  "webhook-id": "The id of the notification, the same for all attempts: identifies duplicates",
  "webhook-timestamp": "The time of this attempt, in seconds since 1970",
  "webhook-signature":
    "`v1,` and the Base64 of the HMAC-SHA-256 of `<id>.<timestamp>.<body>` with the secret of the account",
};

/** Headers of notifications whose job belongs to a trace. */
const TRACE_HEADERS: Readonly<Record<string, string>> = {
  traceparent: "The trace of the job, with a span id of this attempt (W3C Trace Context)",
  tracestate: "As it came with the `traceparent` of the job",
};

const headerOf = ([name, description]: readonly [string, string], required: boolean) =>
  ({ name, in: "header", description, required, schema: { type: "string" } }) as const;

export const viewWebhooks = () => Object.fromEntries(NOTIFICATION_EVENTS.map((event) => [event, viewWebhook(event)]));

function viewWebhook(event: NotificationEvent) {
  const { payload, summary } = EVENT_DESCRIPTIONS[event];
  const example = PAYLOAD_EXAMPLES[event];
  return {
    post: {
      summary,
      description: ALWAYS_SENT.has(event)
        ? "Sent unless the `events` of the receiver are a list without it."
        : "Sent if the receiver has `events: true`, or `events` with its name.",
      security: [],
      parameters: [
        ...Object.entries(SIGNATURE_HEADERS).map((header) => headerOf(header, true)),
        ...Object.entries(TRACE_HEADERS).map((header) => headerOf(header, false)),
      ],
      requestBody: {
        required: true,
        content: { "application/json": { schema: refTo(payload), examples: { [event]: { value: example } } } },
      },
      responses: {
        "2XX": { description: "Delivered" },
        "410": { description: "Not delivered; never retried" },
        default: { description: "Not delivered; retried later" },
      },
    },
  };
}
