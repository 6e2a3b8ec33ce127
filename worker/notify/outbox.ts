// What an attempt to deliver a notification does to its delivery. Pure.
import * as z from "zod";
import { ContractDate, contractDate } from "#shared/job-view.ts";
import { retryDelays } from "#shared/notification.ts";
import { Delivery } from "../job/job-state.ts";

/** The receiver's answer: an HTTP status with the code of its error if it has any, or why there was none. */
export type DeliveryResult = { status: number; code?: string } | { error: string };

/** The receiver asks never to be called again (Standard Webhooks). */
const GONE = 410;

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
 * bytes. Null when there is none of this id.
 */
export function replay(
  outbox: readonly Delivery[],
  id: string,
  now: number,
): { outbox: Delivery[]; replayed: Delivery } | null {
  const found = outbox.find((delivery) => delivery.id === id);
  if (!found) return null;
  const replayed: Delivery = { ...found, state: "due", earlierAttempts: found.attempts, nextAt: now };
  return { outbox: outbox.map((delivery) => (delivery === found ? replayed : delivery)), replayed };
}

/** The delivery after an attempt: delivered by any 2xx, else due again by the schedule until that is used up. */
export function afterAttempt(delivery: Delivery, result: DeliveryResult, now: number): Delivery {
  const attempts = delivery.attempts + 1;
  const lastResult = describe(result);
  const after = { ...delivery, attempts, lastResult };
  if ("status" in result && result.status >= 200 && result.status < 300) return { ...after, state: "delivered" };
  const delay = retryDelays(delivery.event)[attempts - delivery.earlierAttempts - 1];
  if (delay === undefined || ("status" in result && result.status === GONE)) return { ...after, state: "abandoned" };
  return { ...after, nextAt: now + delay };
}

/** What the log says of an attempt. */
function describe(result: DeliveryResult): string {
  if ("error" in result) return result.error;
  return result.code === undefined ? `HTTP ${result.status}` : `HTTP ${result.status} ${result.code}`;
}
