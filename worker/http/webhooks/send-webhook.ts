// Webhooks that are sent at once for a client, which reads the response: examples, and notifications to another URL.
import type { Context } from "hono";
import type { EndpointResult } from "#shared/api/notification-requests.ts";
import { AppError } from "#shared/errors.ts";
import { checkReachableUrl } from "#shared/network/address-policy.ts";
import { userOf } from "#shared/request/storage/user-of.ts";
import type { Env } from "../../bindings.ts";
import type { Delivery } from "../../notify/delivery.ts";
import { endpointResult } from "../../notify/outbox.ts";
import { postWebhook } from "../../notify/webhook.ts";
import { webhookSecretsOf } from "../../notify/webhook-secrets.ts";
import { settingsOf } from "../../settings.ts";
import type { ClientEnv } from "../auth/auth.ts";

/** The period of SEND_RATE in wrangler.toml. */
const RATE_SECONDS = 60;

/** Sends the body once to a URL of the client. Throws AppError(request_not_valid | rate_limited). */
export async function sendWebhook(
  context: Context<ClientEnv>,
  delivery: Pick<Delivery, "id" | "body">,
  url: string,
): Promise<EndpointResult> {
  requireReceiver(context.env, url, "url");
  const account = context.get("account");
  if (!(await context.env.SEND_RATE.limit({ key: account.id })).success) {
    throw new AppError("rate_limited", `Too many tests and replays of this account; try again in ${RATE_SECONDS} s`, {
      retryAfterSeconds: RATE_SECONDS,
    });
  }
  const now = Date.now();
  const signWith = await webhookSecretsOf(context.env, account, now);
  const settings = settingsOf(context.env);
  return endpointResult(await postWebhook(delivery, { receiver: { url }, signWith, settings, now }), now);
}

/** Throws AppError(request_not_valid) for a URL to which the service sends nothing. */
export function requireReceiver(env: Env, url: string, field: string): void {
  const checked = checkReachableUrl(url, settingsOf(env).allowPrivate);
  if (!checked.ok) throw new AppError("request_not_valid", `\`${field}\` ${checked.error}`);
  if (userOf(checked.value)) return;
  throw new AppError("request_not_valid", `The user and password in \`${field}\` must be percent-encoded`);
}
