// Changes of deliveries and messages by attempts to send them.
import * as z from "zod";
import type { EndpointResult } from "#shared/api/notification-requests.ts";
import { retryDelays } from "#shared/job/notification.ts";
import type { NotificationSpec } from "#shared/request/notification-section.ts";
import type { AccessSecret } from "#shared/request/storage/storage-spec.ts";
import type { Delivery, DeliveryResult } from "./delivery.ts";

/** The receiver wants no further attempts (Standard Webhooks). */
const GONE = 410;

/** The minimum interval between replays of a notification. */
const REPLAY_EVERY_MS = 60_000;
/** The longest `Retry-After` that is respected: nine such waits end before the job is purged. */
const MAX_RETRY_AFTER_MS = 60 * 60_000;

/**
 * Makes a delivery due again, from the start of its schedule, with the same id and body. Returns the time to wait if it
 * was replayed less than a minute ago. Returns null if no delivery has this id. Without a receiver, only listeners to
 * the account's events get it.
 */
export function replay(
  outbox: readonly Delivery[],
  id: string,
  now: number,
  hasReceiver: (delivery: Delivery) => boolean = () => true,
): { outbox: Delivery[]; replayed: Delivery } | { waitMs: number } | null {
  const original = outbox.find((delivery) => delivery.id === id);
  if (!original) return null;
  const waitMs = original.replayedAt === undefined ? 0 : original.replayedAt + REPLAY_EVERY_MS - now;
  if (waitMs > 0) return { waitMs };
  const replayed: Delivery = {
    ...original,
    state: hasReceiver(original) ? "due" : original.state,
    earlierAttempts: original.attempts,
    nextAt: now,
    replayedAt: now,
  };
  return { outbox: outbox.map((delivery) => (delivery === original ? replayed : delivery)), replayed };
}

/** The delivery after an attempt: delivered after any 2xx, otherwise due again until its schedule ends. */
export function afterAttempt(delivery: Delivery, result: DeliveryResult, now: number): Delivery {
  const attempts = delivery.attempts + 1;
  const lastResult = describe(result);
  const after = { ...delivery, attempts, lastResult };
  const nextAt = nextAttemptAt(result, retryDelays(delivery.event)[attempts - delivery.earlierAttempts - 1], now);
  if (nextAt !== null) return { ...after, nextAt };
  return { ...after, state: isDelivered(result) ? "delivered" : "abandoned" };
}

/** A message on its way that needs no log of attempts: of an upload link or an alert. Times in ms since 1970. */
export const Message = z.object({ id: z.string(), body: z.string(), attempts: z.int(), nextAt: z.number() });
export type Message = z.infer<typeof Message>;

/** The message after an attempt; null if it needs no other attempt. `delayMs`: before the next attempt. */
export function afterSending(
  message: Message,
  result: DeliveryResult,
  now: number,
  delayMs: number | undefined = retryDelays("job.completed")[message.attempts],
): Message | null {
  const nextAt = nextAttemptAt(result, delayMs, now);
  return nextAt === null ? null : { ...message, attempts: message.attempts + 1, nextAt };
}

/** When to try again: `delayMs` after the attempt, or later at the receiver's request. Null: never. */
function nextAttemptAt(result: DeliveryResult, delayMs: number | undefined, now: number): number | null {
  if (delayMs === undefined || isDelivered(result)) return null;
  if ("error" in result) return now + delayMs;
  if (result.status === GONE) return null;
  return now + Math.max(delayMs, Math.min(result.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}

/** True if the receiver accepted the delivery. */
export const isDelivered = (result: DeliveryResult): boolean =>
  "status" in result && result.status >= 200 && result.status < 300;

/** The result of an attempt that started at `startedAt`, as clients see it. */
export function endpointResult(result: DeliveryResult, startedAt: number): EndpointResult {
  const seconds = Math.round(Date.now() - startedAt) / 1000;
  return "error" in result
    ? { delivered: false, status: null, error: result.error, seconds }
    : { delivered: isDelivered(result), status: result.status, seconds };
}

/** Postpones a delivery. This is not an attempt: its schedule stays the same. */
export const postponed = (delivery: Delivery, at: number): Delivery => ({
  ...delivery,
  nextAt: Math.max(delivery.nextAt, at),
});

/** Identifies the receiver whose failures are counted: the host of its URL, or the topic. */
export function receiverOf(target: NotificationSpec, secret: AccessSecret): string {
  if (target.type === "sns") return target.topicArn;
  return "url" in secret ? hostOf(secret.url) : "";
}

export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "");

/** The result of an attempt, for the log of notifications. */
export function describe(result: DeliveryResult): string {
  if ("error" in result) return result.error;
  return result.code === undefined ? `HTTP ${result.status}` : `HTTP ${result.status} ${result.code}`;
}
