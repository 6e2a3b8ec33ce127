// Replaces the secret that signs the webhooks of an account.
import type { RotatedSecret } from "#shared/api/operator-responses.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { seal } from "../../crypto/sealed-secret.ts";
import { replaceSecrets } from "../../db/accounts.ts";
import type { Account } from "../../db/credentials.ts";
import { withDeadline } from "../../deadline.ts";
import { log } from "../../log.ts";
import { newWebhookSecret } from "../../notify/signature.ts";
import { sealedFor } from "../../notify/webhook-secrets.ts";
import { accountOf } from "../../rpc/account.ts";
import { settingsOf } from "../../settings.ts";

/** The previous secret also signs for this time. */
const OVERLAP_MS = 24 * 60 * 60_000;

/**
 * Replaces the secret of an account. The previous secret also signs for a day. Throws AppError(account_state_conflict)
 * if another request replaced it since the account was read: both cannot be the newest.
 */
export async function rotateWebhookSecret(env: Env, account: Account): Promise<RotatedSecret> {
  const webhookSecret = newWebhookSecret(randomBytes(32));
  const previousUntil = Date.now() + OVERLAP_MS;
  await replaceSecrets(env.DB, account, {
    sealedWebhookSecret: await seal(webhookSecret, sealedFor(account), settingsOf(env).sealingKeys),
    sealedPreviousSecret: account.sealedWebhookSecret,
    previousUntil,
  });
  await notifyObject(env, account.id);
  return { account_id: account.id, webhook_secret: webhookSecret, previous_until: contractDate(previousUntil) };
}

/** Notifies the account's object. If this call is lost, the object reads the secrets again within a minute. */
async function notifyObject(env: Env, account: string): Promise<void> {
  try {
    await withDeadline("forgetSecrets", accountOf(env, account).forgetSecrets());
  } catch (error) {
    log.warn("account object not reachable", { account, error: messageOf(error) });
  }
}
