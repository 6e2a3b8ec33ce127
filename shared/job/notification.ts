// Notifications: events, payloads (api-v2 §9) with fields in the order that existing clients expect, and retries.

import type { MediaProbe } from "../media/media-probe.ts";
import type { JobView, OutputView } from "./job-view.ts";
import type { OutputMetadata } from "./metadata.ts";
import type { NotificationPayload } from "./notification-payload.ts";

export const NOTIFICATION_EVENTS = [
  "input.transferred",
  "input.failed",
  "output.completed",
  "output.failed",
  "job.completed",
  "job.failed",
  "job.aborted",
] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** Events that are sent even without `events` in the request. */
export const ALWAYS_SENT: ReadonlySet<NotificationEvent> = new Set(["job.completed", "job.failed"]);

/** True if a receiver with these `events` gets an event: a list names exactly the events to send. */
export const isSent = (events: boolean | readonly NotificationEvent[], event: NotificationEvent): boolean =>
  typeof events === "boolean" ? events || ALWAYS_SENT.has(event) : events.includes(event);

/** Metadata of the input, and of each output by its index; null if the client did not request metadata. */
export type PayloadMetadata = { input: MediaProbe | null; outputs: readonly (OutputMetadata | null)[] } | null;

/** Returns the payload of an event of the input. */
export function inputPayload(
  event: "input.transferred" | "input.failed",
  job: JobView,
  metadata: PayloadMetadata,
): NotificationPayload {
  const carried = metadata?.input ? { metadata: metadata.input } : {};
  const { status, source: _source, ...failure } = job.input;
  const data = { status, progress: "100%" as const, ...failure, ...carried };
  return { job_id: job.id, event, metadata: !!metadata?.input, data };
}

/** Returns the payload of an event of an output. `progress` is the percentage of ended outputs. */
export function outputPayload(
  event: "output.completed" | "output.failed",
  job: JobView,
  output: OutputView,
  outputMetadata: OutputMetadata | null,
  progress: `${number}%`,
): NotificationPayload {
  const { progress: _ownProgress, format: _format, type, status, key, ...view } = output;
  const data = { type, status, progress, key, ...view, ...(outputMetadata ? { metadata: outputMetadata } : {}) };
  return { job_id: job.id, event, metadata: !!outputMetadata, data };
}

/** Returns the payload of the end of a job. */
export function jobPayload(
  event: "job.completed" | "job.failed" | "job.aborted",
  job: JobView,
  metadata: PayloadMetadata,
): NotificationPayload {
  const { status, progress, id, created_at, completed_at, ends_at: _end, input: given, outputs, ...rest } = job;
  const { source: _source, ...input } = given;
  const data = {
    type: "job" as const,
    status,
    progress,
    id,
    created_at,
    completed_at,
    input: { ...input, ...(metadata?.input ? { metadata: metadata.input } : {}) },
    outputs: outputs.map(({ progress: _progress, ...output }, index) => {
      const outputMetadata = metadata?.outputs[index];
      return outputMetadata ? { ...output, metadata: outputMetadata } : output;
    }),
    ...rest,
  };
  const hasMetadata =
    metadata !== null && (metadata.input !== null || metadata.outputs.some((entry) => entry !== null));
  return { job_id: job.id, event, metadata: hasMetadata, data };
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Delays before each retry of a delivery, in ms (api-v2 §9, after the Standard Webhooks schedule). */
const RETRY_DELAYS_MS: readonly number[] = [
  5000,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Retries of intermediate events. Fewer, because events are sent in order and the last event matters most. */
const INTERMEDIATE_RETRIES = 3;

/** Returns the delays of an event's retries, in ms. */
export const retryDelays = (event: NotificationEvent): readonly number[] =>
  ALWAYS_SENT.has(event) ? RETRY_DELAYS_MS : RETRY_DELAYS_MS.slice(0, INTERMEDIATE_RETRIES);
