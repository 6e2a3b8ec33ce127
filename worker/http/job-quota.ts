// The limit of unfinished jobs per account.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { keyHasJob } from "../db/idempotency.ts";
import { log } from "../log.ts";
import { accountOf } from "../rpc/account.ts";
import { withDeadline } from "../rpc/deadline.ts";
import { settingsOf } from "../settings.ts";
import type { JobCreator } from "./new-job.ts";

/** Cache time of the count of a full account (account/account-object.ts). */
const RETRY_AFTER_SECONDS = 5;

/**
 * Requires that the account may start another job. A job that already exists for the same Idempotency-Key does not
 * count. Throws AppError(too_many_jobs).
 */
export async function requireJobQuota(
  { env, account }: Pick<JobCreator, "env" | "account">,
  idempotencyKey: string | null,
): Promise<void> {
  const { id, maxUnfinishedJobs } = account;
  const limit = maxUnfinishedJobs ?? settingsOf(env).maxUnfinishedJobs;
  if (await isAdmitted(env, id, limit)) return;
  if (idempotencyKey !== null && (await keyHasJob(env.DB, id, idempotencyKey, Date.now()))) return;
  const message = `The account has reached its limit of ${limit} unfinished jobs; try again after some have ended`;
  throw new AppError("too_many_jobs", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Maximum wait of a client for the object of its account. */
const ADMIT_LIMIT_MS = 5000;

async function isAdmitted(env: JobCreator["env"], account: string, limit: number): Promise<boolean> {
  try {
    return await withDeadline("startJob", accountOf(env, account).startJob(limit), ADMIT_LIMIT_MS);
  } catch (error) {
    // The limit protects the service from single clients. Without it, the service still accepts jobs.
    log.warn("job quota not checked", { account, error: messageOf(error) });
    return true;
  }
}
