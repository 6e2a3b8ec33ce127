// Stores and starts a requested job. A repeated request gets the job of the first request.
import type { Context } from "hono";
import { AppError } from "#shared/errors.ts";
import { type JobId, newJobId } from "#shared/ids.ts";
import { tagsText } from "#shared/job/tags.ts";
import { messageOf } from "#shared/log.ts";
import { traceFields } from "#shared/network/trace-context.ts";
import type { Env } from "../bindings.ts";
import { hex, randomBytes } from "../crypto/bytes.ts";
import { digestsOf } from "../crypto/peppers.ts";
import type { Account } from "../db/credentials.ts";
import { claimKey } from "../db/idempotency.ts";
import { type JobRow, upsertJob } from "../db/jobs.ts";
import { CHECK_AFTER_MS } from "../job/effects/job-effects.ts";
import { newJob } from "../job/state/job-state.ts";
import { viewJob } from "../job/views/job-view.ts";
import { searchText } from "../job/views/search-text.ts";
import { log } from "../log.ts";
import { withDeadline } from "../rpc/deadline.ts";
import { jobOf } from "../rpc/job.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { settingsOf } from "../settings.ts";
import type { ClientEnv } from "./auth/auth.ts";

/** The account that a job is created for, and the origin under which clients reach the service. */
export type JobCreator = { readonly env: Env; readonly account: Account; readonly origin: string };

/** The account and the origin of a client's request. */
export const creatorOf = (context: Context<ClientEnv>): JobCreator => ({
  env: context.env,
  account: context.get("account"),
  origin: new URL(context.req.url).origin,
});

type NewJob = { id: JobId; createdAt: number };

/**
 * Stores the row of the requested job, so that every returned job is in lists. Claims the Idempotency-Key in the same
 * step. If an earlier request holds the key, returns that request's job. Throws AppError(idempotency_key_*).
 */
export async function storeJob(
  env: Env,
  accountId: string,
  { body, key }: { readonly body: Uint8Array; readonly key: string | null },
  specOf: (job: NewJob) => Promise<JobSpec>,
): Promise<JobSpec> {
  const { DB } = env;
  requireValidKey(key);
  const spec = await specOf({ id: newJobId(randomBytes), createdAt: Date.now() });
  if (key === null) {
    await upsertJob(DB, firstRow(spec));
    return spec;
  }
  const { id: jobId, createdAt } = spec;
  // The pepper is needed, because a plain digest of the body would allow guessing weak passwords in it.
  const digests = await digestsOf(hex(await crypto.subtle.digest("SHA-256", body)), settingsOf(env).peppers);
  const request = { accountId, key, bodyDigest: digests[0], jobId, createdAt };
  const holder = await claimKey(DB, request, firstRow(spec));
  if (!digests.includes(holder.bodyDigest)) {
    throw new AppError(
      "idempotency_key_reused",
      "The Idempotency-Key was used with another body within the last 24 hours",
    );
  }
  if (holder.jobId === jobId) return spec;
  const earlier = await specOf({ id: holder.jobId as JobId, createdAt: holder.createdAt });
  await upsertJob(DB, firstRow(earlier));
  return earlier;
}

/** Throws AppError(idempotency_key_not_valid). */
function requireValidKey(key: string | null): void {
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return;
  throw new AppError(
    "idempotency_key_not_valid",
    "The Idempotency-Key must consist of 1 to 255 visible ASCII characters",
  );
}

/** The row of a job that has not started. */
function firstRow(spec: JobSpec): JobRow {
  const state = newJob(spec);
  const { id, accountId, createdAt } = spec;
  const row = { id, accountId, createdAt, status: state.status, version: state.version, completedAt: null };
  const texts = {
    view: JSON.stringify(viewJob(state)),
    search: searchText(spec),
    usage: null,
    tags: tagsText(spec.tags),
  };
  return { ...row, ...texts, checkAt: Date.now() + CHECK_AFTER_MS };
}

/**
 * Starts a job whose row is stored. If its object is unreachable, the job may still have started, and will update the
 * row.
 */
export async function startJob(env: Env, spec: JobSpec): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withDeadline("create", jobOf(env, spec.id).create(spec));
    } catch (error) {
      log.warn("job not started", { job: spec.id, attempt, error: messageOf(error), ...traceFields(spec.trace) });
      if (attempt === CREATE_ATTEMPTS) throw error;
      await scheduler.wait(CREATE_PAUSE_MS * attempt);
    }
  }
}

/** Starting a job is idempotent, so lost responses are retried. */
const CREATE_ATTEMPTS = 3;
const CREATE_PAUSE_MS = 100;
