// Notifications of type `http`: a POST signed as Standard Webhooks says.
import { checkUrl } from "#shared/address-policy.ts";
import { userOf } from "#shared/request/user-of.ts";
import type { Delivery } from "../job/job-state.ts";
import { basicHeader } from "../storage/basic-header.ts";
import type { DeliveryDeps } from "./deliver.ts";
import type { DeliveryResult } from "./outbox.ts";
import { send } from "./send.ts";
import { signatureHeaders } from "./signature.ts";

/** POSTs a delivery to the client's address; the answer's body is not read. */
export async function postWebhook(
  { id, body }: Delivery,
  { secrets, settings, now }: DeliveryDeps,
): Promise<DeliveryResult> {
  if (!("url" in secrets.notification)) throw new Error("A webhook needs its address");
  const checked = checkUrl(secrets.notification.url, settings.allowPrivate);
  if (!checked.ok) return { error: checked.reason };
  const address = userOf(checked.url);
  if (!address) return { error: "The user and password in the address are not percent-encoded" };
  const { url, user } = address;
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "user-agent": "copra-notify/1",
    ...(user ? { authorization: basicHeader(user) } : {}),
    ...(await signatureHeaders(secrets.webhook, id, now, body)),
  };
  return send(new Request(url, { method: "POST", headers, body }), async (response) => {
    await response.body?.cancel();
    return { status: response.status };
  });
}
