// Notifications of type `http`: a POST signed according to Standard Webhooks.
import { checkReachableUrl } from "#shared/network/address-policy.ts";
import { retryAfterMs } from "#shared/network/http-headers.ts";
import { traceHeaders } from "#shared/network/trace-context.ts";
import { userOf } from "#shared/request/storage/user-of.ts";
import { hex, randomBytes } from "../crypto/bytes.ts";
import { basicHeader } from "../http-client/basic-header.ts";
import type { Delivery, DeliveryDeps, DeliveryResult } from "./delivery.ts";
import { send } from "./send.ts";
import { signatureHeaders } from "./signature.ts";

/** Statuses with which `Retry-After` is respected (RFC 6585 §4, RFC 9110 §15.6.4). */
const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** Each attempt is a span of its own: the receiver's spans are its children. */
const SPAN_ID_BYTES = 8;

/** POSTs a delivery to the client's URL, signed if there are secrets; the response's body is not read. */
export async function postWebhook(
  { id, body }: Pick<Delivery, "id" | "body">,
  { receiver, signWith, settings, now, trace }: Omit<DeliveryDeps, "jobId">,
): Promise<DeliveryResult> {
  if (!("url" in receiver)) throw new Error("The URL of the webhook is missing");
  const checked = checkReachableUrl(receiver.url, settings.allowPrivate);
  if (!checked.ok) return { error: `The URL ${checked.error}` };
  const target = userOf(checked.value);
  if (!target) return { error: "The user and password in the URL must be percent-encoded" };
  const { url, user } = target;
  const headers = {
    "content-type": "application/json; charset=utf-8",
    ...(signWith.length > 0 ? await signatureHeaders(signWith, id, now, body) : {}),
    ...(trace ? traceHeaders(trace, hex(randomBytes(SPAN_ID_BYTES))) : {}),
  };
  if (user) Object.assign(headers, { authorization: basicHeader(user) });
  return send(new Request(url, { method: "POST", headers, body }), async (response) => {
    await response.body?.cancel();
    const { status, headers: received } = response;
    const retryAfter = BUSY.has(status) ? retryAfterMs(received.get("retry-after") ?? undefined, Date.now()) : null;
    return retryAfter === null ? { status } : { status, retryAfterMs: retryAfter };
  });
}
