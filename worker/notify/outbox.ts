// What an attempt to deliver a notification does to its delivery. Pure.
import * as z from "zod";
import { ContractDate, contractDate } from "#shared/job/job-view.ts";
import { retryDelays } from "#shared/job/notification.ts";
import type { NotificationSpec } from "#shared/request/notification-section.ts";
import type { AccessSecret } from "#shared/request/storage/storage-spec.ts";
import { Delivery } from "../job/state/job-state.ts";

/** The receiver's answer: an HTTP status with the code of its error if it has any, or why there was none. */
export type DeliveryResult = { status: number; code?: string; retryAfterMs?: number } | { error: string };

/** The receiver asks never to be called again (Standard Webhooks). */
const GONE = 410;

/** A notification may be replayed once in so long. */
const REPLAY_EVERY_MS = 60_000;
/** Longer than this no receiver keeps a delivery waiting: nine such waits still end before the job is forgotten. */
const MAX_RETRY_AFTER_MS = 60 * 60_000;

/** A delivery as clients see it in the log of their job. */
export const DeliveryView = z
  .object({
    id: Delivery.shape.id.describe("Stable over retries: tells duplicates"),
    event: Delivery.shape.event,
    status: Delivery.shape.state.describe("`due` until it is `delivered`, or `abandoned` at the end of its schedule"),
    attempts: Delivery.shape.attempts.describe("All that there were, replays included"),
    created_at: ContractDate,
    next_attempt_at: ContractDate.nullable().describe("Null when it is not due"),
    last_result: z.string().nullable().describe("The receiver's HTTP status, or why there was no answer"),
  })
  .describe("One event on its way to the client");
export type DeliveryView = z.infer<typeof DeliveryView>;

export function viewDelivery(delivery: Delivery): DeliveryView {
  const { id, event, state, attempts, createdAt, nextAt, lastResult } = delivery;
  return {
    id,
    event,
    status: state,
    attempts,
    created_at: contractDate(createdAt),
    next_attempt_at: state === "due" ? contractDate(nextAt) : null,
    last_result: lastResult,
  };
}

/**
 * The outbox with one delivery to be sent once more, from the start of its schedule, under the same id and with the same
 * bytes; or how long to wait, when it was replayed a moment ago. Null when there is none of this id.
 */
export function replay(
  outbox: readonly Delivery[],
  id: string,
  now: number,
): { outbox: Delivery[]; replayed: Delivery } | { waitMs: number } | null {
  const found = outbox.find((delivery) => delivery.id === id);
  if (!found) return null;
  const waitMs = found.replayedAt === undefined ? 0 : found.replayedAt + REPLAY_EVERY_MS - now;
  if (waitMs > 0) return { waitMs };
  const replayed: Delivery = {
    ...{ ...found, state: "due", earlierAttempts: found.attempts },
    ...{ nextAt: now, replayedAt: now },
  };
  return { outbox: outbox.map((delivery) => (delivery === found ? replayed : delivery)), replayed };
}

/** The delivery after an attempt: delivered by any 2xx, else due again by the schedule until that is used up. */
export function afterAttempt(delivery: Delivery, result: DeliveryResult, now: number): Delivery {
  const attempts = delivery.attempts + 1;
  const lastResult = describe(result);
  const after = { ...delivery, attempts, lastResult };
  if (isTaken(result)) return { ...after, state: "delivered" };
  const delay = retryDelays(delivery.event)[attempts - delivery.earlierAttempts - 1];
  if (delay === undefined || ("status" in result && result.status === GONE)) return { ...after, state: "abandoned" };
  const asked = "status" in result ? (result.retryAfterMs ?? 0) : 0;
  return { ...after, nextAt: now + Math.max(delay, Math.min(asked, MAX_RETRY_AFTER_MS)) };
}

/** Whether the receiver has the delivery. */
export const isTaken = (result: DeliveryResult): boolean =>
  "status" in result && result.status >= 200 && result.status < 300;

/** The delivery at a later time: no attempt was made, and none of its schedule is used up. */
export const postponed = (delivery: Delivery, at: number): Delivery => ({
  ...delivery,
  nextAt: Math.max(delivery.nextAt, at),
});

/** What the failures of a receiver count for: its host, whatever the path; or one topic. */
export function receiverOf(target: NotificationSpec, secret: AccessSecret): string {
  if (target.type === "sns") return target.topicArn;
  return "url" in secret && URL.canParse(secret.url) ? new URL(secret.url).host : "";
}

/** What the log says of an attempt. */
function describe(result: DeliveryResult): string {
  if ("error" in result) return result.error;
  return result.code === undefined ? `HTTP ${result.status}` : `HTTP ${result.status} ${result.code}`;
}
