// What an attempt to deliver a notification does to its delivery. Pure.
import { retryDelays } from "#shared/notification.ts";
import type { Delivery } from "../job/job-state.ts";

/** The receiver's answer: an HTTP status, or why there was none. */
export type DeliveryResult = { status: number } | { error: string };

/** The receiver asks never to be called again (Standard Webhooks). */
const GONE = 410;

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
