// The limit of unfinished jobs per account.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { keysWithJobs } from "../../../db/idempotency.ts";
import { log } from "../../../log.ts";
import { type AccountRpc, accountOf } from "../../../rpc/account.ts";
import { withDeadline } from "../../../rpc/deadline.ts";
import { settingsOf } from "../../../settings.ts";
import type { JobCreator } from "./new-job.ts";

/** Cache time of the count of a full account (account/account-object.ts). */
const RETRY_AFTER_SECONDS = 5;

type Creator = Pick<JobCreator, "env" | "account">;

/**
 * Requires that the account may start another job, or a probe with this id: it counts as an unfinished job. Throws
 * AppError(too_many_jobs).
 */
export async function requireJobQuota(creator: Creator, probeId: string | null): Promise<void> {
  const limit = limitOf(creator);
  const admitted = await countAdmitted(creator, 1, (account) =>
    probeId === null ? account.startJobs(limit, 1) : account.startProbe(probeId, limit),
  );
  if (admitted === 0) throw tooManyJobs(limit);
}

/**
 * Returns null for each job that the account may start, else AppError(too_many_jobs); in the order of the jobs'
 * Idempotency-Keys. A job that already exists for its key does not count.
 */
export async function checkJobQuota(creator: Creator, keys: readonly (string | null)[]): Promise<(AppError | null)[]> {
  const limit = limitOf(creator);
  let admitted = await countAdmitted(creator, keys.length, (account) => account.startJobs(limit, keys.length));
  if (admitted >= keys.length) return keys.map(() => null);
  const { env, account } = creator;
  const given = keys.filter((key) => key !== null);
  const held = given.length === 0 ? null : await keysWithJobs(env.DB, account.id, given, Date.now());
  return keys.map((key) => {
    if (key !== null && held?.has(key)) return null;
    admitted -= 1;
    return admitted >= 0 ? null : tooManyJobs(limit);
  });
}

const limitOf = ({ env, account }: Creator): number => account.maxUnfinishedJobs ?? settingsOf(env).maxUnfinishedJobs;

function tooManyJobs(limit: number): AppError {
  const message = `The account has reached its limit of ${limit} unfinished jobs; try again after some have ended`;
  return new AppError("too_many_jobs", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Maximum wait of a client for the object of its account. */
const ADMIT_LIMIT_MS = 5000;

/** Number of jobs that the account's object admits, at most `count`. */
async function countAdmitted(
  { env, account: { id } }: Creator,
  count: number,
  start: (account: DurableObjectStub<AccountRpc>) => Promise<number>,
): Promise<number> {
  try {
    return await withDeadline("startJobs", start(accountOf(env, id)), ADMIT_LIMIT_MS);
  } catch (error) {
    // The limit protects the service from single clients. Without it, the service still accepts jobs.
    log.warn("job quota not checked", { account: id, error: messageOf(error) });
    return count;
  }
}
