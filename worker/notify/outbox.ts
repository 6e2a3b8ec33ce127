// What an attempt to deliver a notification does to its delivery. Pure.
import { contractDate } from "#shared/job-view.ts";
import { retryDelays } from "#shared/notification.ts";
import type { Delivery } from "../job/job-state.ts";

/** The receiver's answer: an HTTP status, or why there was none. */
export type DeliveryResult = { status: number } | { error: string };

/** The receiver asks never to be called again (Standard Webhooks). */
const GONE = 410;

/** A delivery as clients see it in the log of their job. */
export function viewDelivery(delivery: Delivery) {
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
export type DeliveryView = ReturnType<typeof viewDelivery>;

/** The delivery, to be sent once more from the start of its schedule, under the same id and with the same bytes. */
export const replayed = (delivery: Delivery, now: number): Delivery => ({
  ...delivery,
  state: "due",
  attempts: 0,
  nextAt: now,
});

/** The delivery after an attempt: delivered by any 2xx, else due again by the schedule until that is used up. */
export function afterAttempt(delivery: Delivery, result: DeliveryResult, now: number): Delivery {
  const attempts = delivery.attempts + 1;
  const lastResult = "status" in result ? `HTTP ${result.status}` : result.error;
  const after = { ...delivery, attempts, lastResult };
  if ("status" in result && result.status >= 200 && result.status < 300) return { ...after, state: "delivered" };
  const delay = retryDelays(delivery.event)[attempts - 1];
  if (delay === undefined || ("status" in result && result.status === GONE)) return { ...after, state: "abandoned" };
  return { ...after, nextAt: now + delay };
}
