// Notifications of type `http`: a POST signed as Standard Webhooks says.
import { checkUrl } from "#shared/network/address-policy.ts";
import { retryAfterMs } from "#shared/network/retry-after.ts";
import { userOf } from "#shared/request/storage/user-of.ts";
import type { Delivery } from "../job/state/job-state.ts";
import { basicHeader } from "../storage/basic-header.ts";
import type { DeliveryDeps } from "./deliver.ts";
import type { DeliveryResult } from "./outbox.ts";
import { send } from "./send.ts";
import { signatureHeaders } from "./signature.ts";

/** Statuses that go with `Retry-After` (RFC 6585 §4, RFC 9110 §15.6.4). */
const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** POSTs a delivery to the client's address; the answer's body is not read. */
export async function postWebhook(
  { id, body }: Delivery,
  { secrets, signWith, settings, now }: DeliveryDeps,
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
    ...(await signatureHeaders(signWith, id, now, body)),
  };
  return send(new Request(url, { method: "POST", headers, body }), async (response) => {
    await response.body?.cancel();
    const { status, headers: answered } = response;
    const retryAfter = BUSY.has(status) ? retryAfterMs(answered.get("retry-after") ?? undefined, Date.now()) : null;
    return retryAfter === null ? { status } : { status, retryAfterMs: retryAfter };
  });
}
