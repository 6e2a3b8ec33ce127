// A notification on its way to the client, as a job stores it and as clients see it.
import * as z from "zod";
import { DELIVERY_STATES, type DeliveryView } from "#shared/api/job-responses.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { NOTIFICATION_EVENTS } from "#shared/job/notification.ts";
import type { TraceContext } from "#shared/network/trace-context.ts";
import { type NotificationSpec, receiversOf } from "#shared/request/notification-section.ts";
import type { NotificationSecret } from "#shared/request/storage/storage-spec.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import type { Settings } from "../settings.ts";

/** Times in ms since 1970. */
const Time = z.number();

export const Delivery = z.object({
  /** The same in all attempts, so that receivers can detect duplicates. */
  id: z.string(),
  event: z.enum(NOTIFICATION_EVENTS),
  /** Fixed when the event happened: every attempt sends the same bytes. */
  body: z.string(),
  createdAt: Time,
  attempts: z.int(),
  /** Attempts before the schedule was restarted by a replay. */
  earlierAttempts: z.int(),
  state: z.enum(DELIVERY_STATES),
  /** Time of the next attempt. */
  nextAt: Time,
  lastResult: z.string().nullable(),
  replayedAt: Time.exactOptional(),
  /** Index of its receiver, if the job has several. */
  receiver: z.int().exactOptional(),
});
export type Delivery = z.infer<typeof Delivery>;

/** Result of an attempt: the receiver's HTTP status and error code, or the reason why there was no response. */
export type DeliveryResult = { status: number; code?: string; retryAfterMs?: number } | { error: string };

/** Input of an attempt besides the delivery. */
export type DeliveryDeps = {
  readonly jobId: string;
  /** The receiver's URL, or the keys of the topic. */
  readonly receiver: NotificationSecret;
  /** Webhook secrets: the account's newest secret and, during its rotation, the previous secret. */
  readonly signWith: readonly string[];
  readonly settings: Pick<Settings, "allowPrivate" | "snsEndpoint">;
  /** ms since 1970. */
  readonly now: number;
  /** The trace of the request. */
  readonly trace?: TraceContext | undefined;
};

/** A delivery as clients see it in the log of their job. */
export function viewDelivery(delivery: Delivery, spec: JobSpec): DeliveryView {
  const { id, event, state, attempts, createdAt, nextAt, lastResult } = delivery;
  return {
    id,
    event,
    status: state,
    attempts,
    created_at: contractDate(createdAt),
    next_attempt_at: state === "due" ? contractDate(nextAt) : null,
    last_result: lastResult,
    ...receiverMembers(delivery, spec),
  };
}

/** The receiver of a delivery. */
export const targetOf = ({ receiver = 0 }: Delivery, spec: JobSpec): NotificationSpec =>
  receiversOf(spec)[receiver] ?? spec.notification;

function receiverMembers(delivery: Delivery, spec: JobSpec): Pick<DeliveryView, "receiver"> {
  if (delivery.receiver === undefined) return {};
  const target = targetOf(delivery, spec);
  const to = target.type === "http" ? target.url : target.type === "sns" ? target.topicArn : null;
  return { receiver: { number: delivery.receiver + 1, type: target.type, to } };
}
