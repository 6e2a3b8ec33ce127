// One attempt to deliver one notification.
import { type AllowPrivate, checkUrl } from "#shared/address-policy.ts";
import { messageOf } from "#shared/log.ts";
import type { NotificationSpec } from "#shared/request/notification-section.ts";
import { fetchWithin } from "../fetch-within.ts";
import type { Delivery } from "../job/job-state.ts";
import type { DeliveryResult } from "./outbox.ts";
import { signatureHeaders } from "./signature.ts";

/** How long a receiver may take to answer (api-v2 §9). */
const ANSWER_LIMIT_MS = 15_000;

/** POSTs the frozen body with a fresh signature; redirects are not followed; the answer's body is not read. */
export async function deliver(
  delivery: Delivery,
  target: NotificationSpec,
  secret: string,
  allow: AllowPrivate,
  now: number,
): Promise<DeliveryResult> {
  const url = withParams(target.url, target.params);
  const checked = checkUrl(url, allow);
  if (!checked.ok) return { error: checked.reason };
  try {
    const headers = {
      "content-type": "application/json; charset=utf-8",
      "user-agent": "copra-notify/1",
      ...(await signatureHeaders(secret, delivery.id, now, delivery.body)),
    };
    const request = new Request(url, { method: "POST", headers, body: delivery.body });
    return await fetchWithin(ANSWER_LIMIT_MS, request, async (response) => {
      await response.body?.cancel();
      return { status: response.status };
    });
  } catch (error) {
    return { error: `No answer: ${messageOf(error)}` };
  }
}

function withParams(url: string, params: Readonly<Record<string, string>>): string {
  const target = new URL(url);
  for (const [name, value] of Object.entries(params)) target.searchParams.set(name, value);
  return target.href;
}
