// The limit of unfinished jobs per account.
import type { Context } from "hono";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { keyHasJob } from "../db/idempotency.ts";
import { log } from "../log.ts";
import { accountOf, type JobAdmission } from "../rpc/account.ts";
import { withDeadline } from "../rpc/deadline.ts";
import { settingsOf } from "../settings.ts";
import type { ClientEnv } from "./auth/auth.ts";

/** How long the count of a full account is cached (account/job-count.ts). */
const RETRY_AFTER_SECONDS = 5;

/**
 * Requires that the account may start another job. A job that already exists for the same Idempotency-Key does not
 * count. Returns until when (ms since 1970) somebody listens to the account's events, or 0. Throws
 * AppError(too_many_jobs).
 */
export async function requireJobQuota(context: Context<ClientEnv>, idempotencyKey: string | null): Promise<number> {
  const { env } = context;
  const { id, maxUnfinishedJobs } = context.get("account");
  const limit = maxUnfinishedJobs ?? settingsOf(env).maxUnfinishedJobs;
  const { isAdmitted, listenedUntil } = await admission(env, id, limit);
  if (isAdmitted) return listenedUntil;
  if (idempotencyKey !== null && (await keyHasJob(env.DB, id, idempotencyKey, Date.now()))) return listenedUntil;
  const message = `The account has reached its limit of ${limit} unfinished jobs; try again after some have ended`;
  throw new AppError("too_many_jobs", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Whether somebody listens is not known: the job sends its first event, and learns it. */
const UNKNOWN_LISTENED_MS = 60_000;

/** A client does not wait longer for the object of its account. */
const ADMIT_LIMIT_MS = 5000;

async function admission(env: ClientEnv["Bindings"], account: string, limit: number): Promise<JobAdmission> {
  try {
    return await withDeadline("startJob", accountOf(env, account).startJob(limit), ADMIT_LIMIT_MS);
  } catch (error) {
    // The limit protects the service from single clients. Without it, the service still accepts jobs.
    log.warn("Job quota unavailable", { account, error: messageOf(error) });
    return { isAdmitted: true, listenedUntil: Date.now() + UNKNOWN_LISTENED_MS };
  }
}
