// The limit of unfinished jobs per account.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { keysWithJobs } from "../db/idempotency.ts";
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
export async function requireJobQuota(creator: Creator, idempotencyKey: string | null): Promise<void> {
  const [refused] = await checkJobQuota(creator, [idempotencyKey]);
  if (refused) throw refused;
}

type Creator = Pick<JobCreator, "env" | "account">;

/** The same for jobs with these keys, in their order: null for each job that the account may start, else the error. */
export async function checkJobQuota(
  { env, account: { id, maxUnfinishedJobs } }: Creator,
  keys: readonly (string | null)[],
): Promise<(AppError | null)[]> {
  const limit = maxUnfinishedJobs ?? settingsOf(env).maxUnfinishedJobs;
  let admitted = await countAdmitted(env, id, limit, keys.length);
  if (admitted >= keys.length) return keys.map(() => null);
  const given = keys.filter((key) => key !== null);
  const held = given.length === 0 ? null : await keysWithJobs(env.DB, id, given, Date.now());
  const message = `The account has reached its limit of ${limit} unfinished jobs; try again after some have ended`;
  return keys.map((key) => {
    if (key !== null && held?.has(key)) return null;
    admitted -= 1;
    return admitted >= 0 ? null : new AppError("too_many_jobs", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  });
}

/** Maximum wait of a client for the object of its account. */
const ADMIT_LIMIT_MS = 5000;

/** Number of jobs that the account may start, at most `count`. */
async function countAdmitted(env: JobCreator["env"], account: string, limit: number, count: number): Promise<number> {
  try {
    return await withDeadline("startJobs", accountOf(env, account).startJobs(limit, count), ADMIT_LIMIT_MS);
  } catch (error) {
    // The limit protects the service from single clients. Without it, the service still accepts jobs.
    log.warn("job quota not checked", { account, error: messageOf(error) });
    return count;
  }
}
