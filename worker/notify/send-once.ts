// Sends a signed request to a URL, outside of the schedule of any notification.
import type { EndpointResult } from "#shared/api/notification-requests.ts";
import type { Delivery, DeliveryDeps } from "./delivery.ts";
import { isDelivered } from "./outbox.ts";
import { postWebhook } from "./webhook.ts";

/** Sends the body to a URL and measures its response. Never rejects because of the receiver. */
export async function sendOnce(
  delivery: Pick<Delivery, "id" | "body">,
  url: string,
  deps: Omit<DeliveryDeps, "jobId" | "receiver">,
): Promise<EndpointResult> {
  const result = await postWebhook(delivery, { ...deps, receiver: { url } });
  const seconds = Math.round(Date.now() - deps.now) / 1000;
  return "error" in result
    ? { delivered: false, status: null, error: result.error, seconds }
    : { delivered: isDelivered(result), status: result.status, seconds };
}
