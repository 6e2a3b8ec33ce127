// How many jobs an account may have that have not ended.
import type { Context } from "hono";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { keyHasJob } from "../db/idempotency.ts";
import { accountOf, log, settingsOf } from "../env.ts";
import type { ClientEnv } from "./auth/auth.ts";

/** As long as a full account is not counted again (account/job-count.ts). */
const RETRY_AFTER_SECONDS = 5;

/**
 * Lets a request through that begins another job. One that was begun before under the same Idempotency-Key is none. Throws
 * AppError(too_many_jobs).
 */
export async function requireRoom(context: Context<ClientEnv>, idempotencyKey: string | null): Promise<void> {
  const { env } = context;
  const { id, maxUnfinishedJobs } = context.get("account");
  const limit = maxUnfinishedJobs ?? settingsOf(env).maxUnfinishedJobs;
  if (await isAdmitted(env, id, limit)) return;
  if (idempotencyKey !== null && (await keyHasJob(env.DB, id, idempotencyKey))) return;
  const message = `The account has ${limit} unfinished jobs, which is its limit; try again when some have ended`;
  throw new AppError("too_many_jobs", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

async function isAdmitted(env: ClientEnv["Bindings"], account: string, limit: number): Promise<boolean> {
  try {
    return await accountOf(env, account).admitJob(limit);
  } catch (error) {
    // The limit protects the service from one client; that it cannot be asked is no reason to refuse all of them.
    log.warn("The account's object does not answer", { account, error: messageOf(error) });
    return true;
  }
}
