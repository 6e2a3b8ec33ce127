// The secrets that sign the webhooks of an account.
import type { Env } from "../bindings.ts";
import { unseal } from "../crypto/sealed-secret.ts";
import type { Account } from "../db/credentials.ts";
import { settingsOf } from "../settings.ts";

/** The context that binds the sealed secrets of an account. */
export const sealedFor = ({ id }: Pick<Account, "id">): string => `account:${id}`;

/** The secrets that sign now, newest first. Throws AppError(sealing_key_missing). */
export async function webhookSecretsOf(env: Env, account: Account, now: number): Promise<string[]> {
  const { sealedWebhookSecret, sealedPreviousSecret, previousUntil } = account;
  const previous = sealedPreviousSecret !== null && (previousUntil ?? 0) > now ? [sealedPreviousSecret] : [];
  const { sealingKeys } = settingsOf(env);
  return Promise.all(
    [sealedWebhookSecret, ...previous].map((sealed) => unseal(sealed, sealedFor(account), sealingKeys)),
  );
}
