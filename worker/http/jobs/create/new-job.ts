// Stores and starts a requested job. A repeated request gets the job of the first request.
import type { Context } from "hono";
import { AppError } from "#shared/errors.ts";
import { type JobId, newJobId } from "#shared/ids.ts";
import { tagsText } from "#shared/job/tags.ts";
import { messageOf } from "#shared/log.ts";
import { traceFields } from "#shared/network/trace-context.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { Env } from "../../../bindings.ts";
import { randomBytes } from "../../../crypto/bytes.ts";
import { keyedDigest } from "../../../crypto/keyed-digest.ts";
import type { SealingKeys } from "../../../crypto/sealed-secret.ts";
import type { Sender } from "../../../db/audit.ts";
import type { Account } from "../../../db/credentials.ts";
import { claimKeys } from "../../../db/jobs/idempotency.ts";
import { insertJobs, type JobRow } from "../../../db/jobs/jobs.ts";
import { withDeadline } from "../../../deadline.ts";
import { CHECK_AFTER_MS } from "../../../job/effects/job-effects.ts";
import { newJob } from "../../../job/state/job-state.ts";
import { viewJob } from "../../../job/views/job-view.ts";
import { searchText } from "../../../job/views/search-text.ts";
import { log } from "../../../log.ts";
import { jobOf } from "../../../rpc/job.ts";
import type { NewJobSpec } from "../../../rpc/job-spec.ts";
import { settingsOf } from "../../../settings.ts";
import { senderOf } from "../../auth/audited.ts";
import type { ClientEnv } from "../../auth/auth.ts";

/** The account that a job is created for, the origin under which clients reach the service, and the sender. */
export type JobCreator = Readonly<{ env: Env; account: Account; origin: string; sender: Sender }>;

/** The account, the origin and the sender of a client's request. */
export const creatorOf = (context: Context<ClientEnv>): JobCreator => ({
  env: context.env,
  account: context.get("account"),
  origin: new URL(context.req.url).origin,
  sender: senderOf(context, context.get("key").keyId),
});

/** The account's part in the order of work on the nodes. */
export const shareOf = ({ weight, maxRunning, maxPriority }: Account): NewJobSpec["share"] => ({
  weight,
  maxRunning,
  maxPriority,
});

export type NewJob = { id: JobId; createdAt: number };

/** A requested job. `body` is the request in bytes: a repeated `key` must have the same. */
type Wanted = { readonly body: Uint8Array; readonly key: string | null };

/**
 * Stores the rows of requested jobs, so that every returned job is in lists. Claims their Idempotency-Keys in the same
 * step. If an earlier request holds a key, returns that request's job. A job's error may be
 * AppError(idempotency_key_reused).
 */
export async function storeJobs<Request extends Wanted>(
  { env, sender }: Pick<JobCreator, "env" | "sender">,
  requests: readonly Request[],
  specOf: (request: Request, job: NewJob) => Promise<NewJobSpec>,
): Promise<Map<Request, Result<NewJobSpec, unknown>>> {
  const { DB } = env;
  const { sealingKeys } = settingsOf(env);
  const settled = requests.map(async (request) => {
    const job = { id: newJobId(randomBytes), createdAt: Date.now() };
    return [request, await settle(specOf(request, job))] as const;
  });
  const results = new Map<Request, Result<NewJobSpec, unknown>>(await Promise.all(settled));
  const claims = [...results].flatMap(([{ key, body }, spec]) => {
    if (!spec.ok || key === null) return [];
    const { id: jobId, accountId, createdAt } = spec.value;
    const bodyDigest = digestOfBody(body, sealingKeys[0]);
    return { request: { accountId, key, bodyDigest, jobId, createdAt }, job: firstRow(spec.value, sender) };
  });
  const holders = await claimKeys(DB, claims);
  const unclaimed = [...results].map(async ([request, spec]): Promise<JobRow[]> => {
    const holder = request.key === null ? null : holders.get(request.key);
    if (!spec.ok || holder === undefined || holder?.jobId === spec.value.id) return [];
    if (holder === null) return [firstRow(spec.value, sender)];
    const isRepeated = sealingKeys.some((key) => digestOfBody(request.body, key) === holder.bodyDigest);
    const first = isRepeated
      ? await settle(specOf(request, { id: holder.jobId as JobId, createdAt: holder.createdAt }))
      : err(new AppError("idempotency_key_reused", KEY_REUSED));
    results.set(request, first);
    return first.ok ? [firstRow(first.value, sender)] : [];
  });
  await insertJobs(DB, (await Promise.all(unclaimed)).flat());
  return results;
}

const KEY_REUSED = "The Idempotency-Key was used with another body within the last 24 hours";

/** With a key, because a plain digest of the body would allow guessing weak passwords in it. */
const digestOfBody = (body: Uint8Array, key: SealingKeys[number] | undefined): string =>
  keyedDigest("copra request body 1", body, key);

/** The value of a promise, or its reason. */
export const settle = <Value>(promise: Promise<Value>): Promise<Result<Value, unknown>> =>
  promise.then(ok, (error: unknown) => err(error));

/** The key of a job that the service creates. It starts with a space, which no key of a client has. */
export const ownKey = (kind: "ingest" | "upload-link", id: string): string => ` ${kind}/${id}`;

/** The key of a job of a batch. It has a space, and keys of clients have none. */
export const keyInBatch = (key: string, at: number): string => `${key} ${at}`;

/** Throws AppError(idempotency_key_not_valid) for the key of a client. */
export function requireValidKey(key: string | null): void {
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return;
  throw new AppError(
    "idempotency_key_not_valid",
    "The Idempotency-Key must consist of 1 to 255 visible ASCII characters",
  );
}

/** The row of a job that has not started. */
function firstRow(spec: NewJobSpec, { actor, ip }: Sender): JobRow {
  const state = newJob(spec);
  const { id, accountId, createdAt } = spec;
  const row = { id, accountId, createdAt, status: state.status, version: state.version, completedAt: null };
  const texts = {
    view: JSON.stringify(viewJob(state)),
    search: searchText(spec),
    usage: null,
    tags: tagsText(spec.tags),
    createdBy: actor,
    createdFrom: ip,
  };
  return { ...row, ...texts, checkAt: Date.now() + CHECK_AFTER_MS };
}

/**
 * Starts a job whose row is stored. If its object is unreachable, the job may still have started, and will update the
 * row.
 */
export async function startJob(env: Env, spec: NewJobSpec, isListened = true): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withDeadline("create", jobOf(env, spec.id).create(spec, isListened));
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
