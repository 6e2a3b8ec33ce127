// Attempts to deliver a notification, in the way that its job requested.
import { assertNever } from "#shared/errors.ts";
import type { NotificationSpec } from "#shared/request/notification-section.ts";
import type { Delivery, DeliveryDeps, DeliveryResult } from "./delivery.ts";
import { publishToTopic } from "./sns.ts";
import { postWebhook } from "./webhook.ts";

/** Sends the fixed body with a new signature. Never rejects because of the receiver. */
export function deliver(delivery: Delivery, target: NotificationSpec, deps: DeliveryDeps): Promise<DeliveryResult> {
  switch (target.type) {
    case "http":
      return postWebhook(delivery, deps);
    case "sns":
      return publishToTopic(delivery, target, deps);
    case "none":
      return Promise.resolve({ error: "The job notifies nobody" });
    default:
      return assertNever(target);
  }
}
