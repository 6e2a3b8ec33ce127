// Notifications of type `http`: a POST signed as Standard Webhooks says.
import { checkUrl } from "#shared/address-policy.ts";
import type { HttpNotification } from "#shared/request/notification-section.ts";
import type { Delivery } from "../job/job-state.ts";
import type { DeliveryDeps } from "./deliver.ts";
import type { DeliveryResult } from "./outbox.ts";
import { send } from "./send.ts";
import { signatureHeaders } from "./signature.ts";

/** POSTs a delivery to the client's address; the answer's body is not read. */
export async function postWebhook(
  { id, body }: Delivery,
  { url, params }: HttpNotification,
  { secrets, settings, now }: DeliveryDeps,
): Promise<DeliveryResult> {
  const target = withParams(url, params);
  const checked = checkUrl(target, settings.allowPrivate);
  if (!checked.ok) return { error: checked.reason };
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "user-agent": "copra-notify/1",
    ...(await signatureHeaders(secrets.webhook, id, now, body)),
  };
  return send(new Request(target, { method: "POST", headers, body }), async (response) => {
    await response.body?.cancel();
    return { status: response.status };
  });
}

function withParams(url: string, params: Readonly<Record<string, string>>): string {
  const target = new URL(url);
  for (const [name, value] of Object.entries(params)) target.searchParams.set(name, value);
  return target.href;
}
