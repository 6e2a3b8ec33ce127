// One attempt to deliver one notification, in the way that its job asked for.
import { assertNever } from "#shared/errors.ts";
import type { NotificationSpec } from "#shared/request/notification-section.ts";
import type { Settings } from "../env.ts";
import type { JobSecrets } from "../job/secrets/job-secrets.ts";
import type { Delivery } from "../job/state/job-state.ts";
import type { DeliveryResult } from "./outbox.ts";
import { publish } from "./sns.ts";
import { postWebhook } from "./webhook.ts";

/** What an attempt needs beside the delivery. */
export type DeliveryDeps = {
  readonly jobId: string;
  readonly secrets: Pick<JobSecrets, "notification">;
  /** Webhook secrets: the account's newest, and while it is being changed the one before. */
  readonly signWith: readonly string[];
  readonly settings: Pick<Settings, "allowPrivate" | "snsEndpoint">;
  /** ms since 1970. */
  readonly now: number;
};

/** Sends the frozen body, signed afresh. What comes of it is a result, whether or not anyone answered. */
export function deliver(delivery: Delivery, target: NotificationSpec, deps: DeliveryDeps): Promise<DeliveryResult> {
  switch (target.type) {
    case "http":
      return postWebhook(delivery, deps);
    case "sns":
      return publish(delivery, target, deps);
    default:
      return assertNever(target);
  }
}
