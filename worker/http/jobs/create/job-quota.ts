// The limit of unfinished jobs per account.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { err, type Result } from "#shared/result.ts";
import { keysWithJobs } from "../../../db/jobs/idempotency.ts";
import { withDeadline } from "../../../deadline.ts";
import { log } from "../../../log.ts";
import { type AccountRpc, accountOf, type StartedJobs } from "../../../rpc/account.ts";
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
  const { started } = await countAdmitted(creator, 1, async (account) =>
    probeId === null
      ? account.startJobs(limit, 1)
      : { started: await account.startProbe(probeId, limit), isListened: true },
  );
  if (started === 0) throw tooManyJobs(limit);
}

/**
 * The requests that the account may not start, each with AppError(too_many_jobs), and whether somebody listens to its
 * events. A request does not count if a job exists for its Idempotency-Key already.
 */
export async function requestsAboveQuota<Request extends { readonly key: string | null }>(
  creator: Creator,
  requests: readonly Request[],
): Promise<{ refused: Map<Request, Result<never, AppError>>; isListened: boolean }> {
  const count = requests.length;
  if (count === 0) return { refused: new Map(), isListened: false };
  const limit = limitOf(creator);
  const { started, isListened } = await countAdmitted(creator, count, (account) => account.startJobs(limit, count));
  if (started >= count) return { refused: new Map(), isListened };
  const { env, account } = creator;
  const keys = requests.flatMap(({ key }) => key ?? []);
  const held = keys.length === 0 ? null : await keysWithJobs(env.DB, account.id, keys, Date.now());
  const counted = requests.filter(({ key }) => key === null || !held?.has(key));
  return { refused: new Map(counted.slice(started).map((request) => [request, err(tooManyJobs(limit))])), isListened };
}

const limitOf = ({ env, account }: Creator): number => account.maxUnfinishedJobs ?? settingsOf(env).maxUnfinishedJobs;

function tooManyJobs(limit: number): AppError {
  const message = `The account has reached its limit of ${limit} unfinished jobs; try again after some have ended`;
  return new AppError("too_many_jobs", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Maximum wait of a client for the object of its account. */
const ADMIT_LIMIT_MS = 5000;

/** The jobs that the account's object admits, at most `count`. */
async function countAdmitted(
  { env, account: { id } }: Creator,
  count: number,
  start: (account: DurableObjectStub<AccountRpc>) => Promise<StartedJobs>,
): Promise<StartedJobs> {
  try {
    return await withDeadline("startJobs", start(accountOf(env, id)), ADMIT_LIMIT_MS);
  } catch (error) {
    // The limit protects the service from single clients. Without it, the service still accepts jobs.
    log.warn("job quota not checked", { account: id, error: messageOf(error) });
    return { started: count, isListened: true };
  }
}
