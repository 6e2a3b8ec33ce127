// /v2/jobs: create, list; /v2/jobs/:id: read, follow, cancel, retry; /v2/jobs/:id/notifications.

import { type Context, Hono } from "hono";
import { AppError } from "#shared/errors.ts";
import { isJobId, type JobId, newJobId } from "#shared/ids.ts";
import { isTerminalJob, JOB_STATUSES } from "#shared/job/job-status.ts";
import { messageOf } from "#shared/log.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { claimKey } from "../../db/idempotency.ts";
import { findJob, type JobRow, listJobs, upsertJob } from "../../db/jobs.ts";
import { digestsOf } from "../../db/peppers.ts";
import { jobOf, log, settingsOf } from "../../env.ts";
import { hex } from "../../hex.ts";
import { CHECK_AFTER_MS } from "../../job/effects/job-effects.ts";
import { endedEvents } from "../../job/events/event-text.ts";
import { hideAddresses } from "../../job/secrets/extra-urls.ts";
import { sealJobSecrets, settleStreamKeys } from "../../job/secrets/job-secrets.ts";
import { type JobSpec, newJob } from "../../job/state/job-state.ts";
import { viewJob } from "../../job/views/job-view.ts";
import { randomBytes } from "../../random-bytes.ts";
import { resolveStorage } from "../../storage/resolve-storage.ts";
import { unseal } from "../../storage/sealed-secret.ts";
import { type ClientEnv, clientAuth } from "../auth/auth.ts";
import { parseJson, readBytes } from "../body/read-body.ts";
import { parseDryRun } from "../dry-run/assumed-source.ts";
import { dryRun } from "../dry-run/dry-run.ts";
import { requireRoom } from "../job-quota.ts";
import { cursorOf, parseListQuery } from "../query/list-query.ts";
import type { JobList, NotificationLog } from "../response-schemas.ts";
import { eventStream } from "../responses/event-stream.ts";
import { answer, problem } from "../responses/problem.ts";

export const jobs = new Hono<ClientEnv>({ strict: false })
  .use(clientAuth)
  .post("/", async (context) => {
    const { sealingKeys, allowPrivate } = settingsOf(context.env);
    const assumedSource = parseDryRun(context.req.query());
    const bytes = await readBytes(context.req);
    const parsed = parseJobRequest(parseJson(bytes), allowPrivate);
    if (!parsed.ok) return problem(context, parsed.refusal.code, parsed.refusal.message);
    const { secrets, ...request } = parsed.value;
    const { origin } = new URL(context.req.url);
    const storage = await resolveStorage(request.storage, { env: context.env, origin, keys: secrets.storage });
    if (assumedSource) return answer(context, dryRun({ ...request, storage }, assumedSource));
    const account = context.get("account");
    await requireRoom(context, context.req.header("idempotency-key") ?? null);
    const { id, createdAt } = await identify(context, bytes);
    const webhook = await unseal(account.sealedWebhookSecret, `account:${account.id}`, sealingKeys);
    const streamKeys = settleStreamKeys(secrets.streamKeys, randomBytes);
    const { outputs, addresses } = hideAddresses(request.outputs);
    const sealedSecrets = await sealJobSecrets(id, { ...secrets, webhook, streamKeys, addresses }, sealingKeys);
    const spec: JobSpec = { id, accountId: account.id, createdAt, ...request, outputs, storage, sealedSecrets };
    await createJob(context.env, spec);
    // It follows from the body, the id and the time alone: a request that is sent again gets the first answer again.
    return answer(context, viewJob(newJob(spec)), 201);
  })
  .get("/", async (context) => {
    const query = parseListQuery(context.req.query());
    const rows = await listJobs(context.env.DB, context.get("account").id, { ...query, limit: query.limit + 1 });
    const page = rows.slice(0, query.limit);
    const last = rows.length > page.length ? page.at(-1) : undefined;
    return answer(context, {
      jobs: page.map(({ view }) => JSON.parse(view)),
      next_cursor: last ? cursorOf(last) : null,
    } satisfies JobList);
  })
  .get("/:id", async (context) => {
    const row = await ownJob(context, context.req.param("id"));
    if (hasEnded(row)) return answer(context, JSON.parse(row.view));
    const viewed = await jobOf(context.env, row.id).view();
    return viewed.ok ? answer(context, viewed.value) : problem(context, viewed.code, viewed.message);
  })
  .delete("/:id", async (context) => {
    const { id } = await ownJob(context, context.req.param("id"));
    const cancelled = await jobOf(context.env, id).cancel();
    if (cancelled.ok) return answer(context, cancelled.value);
    // An ended job's object may have been forgotten; its row says how it ended.
    const gone = cancelled.code === "job_not_found";
    return problem(context, "job_state_conflict", gone ? "The job has ended already" : cancelled.message);
  })
  .get("/:id/events", async (context) => {
    const row = await ownJob(context, context.req.param("id"));
    if (hasEnded(row)) return eventStream(endedEvents(row.view));
    const followed = await jobOf(context.env, row.id).events();
    return followed.ok ? eventStream(followed.value) : problem(context, followed.code, followed.message);
  })
  .post("/:id/retry", async (context) => {
    const row = await ownJob(context, context.req.param("id"));
    await requireRoom(context, null);
    const begun = await jobOf(context.env, row.id).retry();
    if (!begun.ok) {
      const gone = begun.code === "job_not_found";
      return problem(context, "job_state_conflict", gone ? "The job is no longer kept; create it anew" : begun.message);
    }
    const { view, version } = begun.value;
    // The row of an ended job answers for it: it must not say so any longer when this is answered.
    await upsertJob(context.env.DB, {
      ...row,
      version,
      status: view.status,
      completedAt: null,
      view: JSON.stringify(view),
      checkAt: Date.now() + CHECK_AFTER_MS,
    });
    return answer(context, view);
  })
  .get("/:id/notifications", async (context) => {
    const { id } = await ownJob(context, context.req.param("id"));
    const log = await jobOf(context.env, id).notifications();
    return log.ok
      ? answer(context, { job_id: id, notifications: log.value } satisfies NotificationLog)
      : problem(context, ...NO_NOTIFICATIONS);
  })
  .post("/:id/notifications/:nid/replay", async (context) => {
    const { id } = await ownJob(context, context.req.param("id"));
    const sent = await jobOf(context.env, id).replay(context.req.param("nid"));
    if (sent.ok) return answer(context, sent.value);
    return sent.code === "job_not_found"
      ? problem(context, ...NO_NOTIFICATIONS)
      : problem(context, sent.code, sent.message, sent.retryAfterSeconds ?? null);
  });

/** Of a job whose row is left alone. */
const NO_NOTIFICATIONS = ["notification_not_found", "The notifications of this job are no longer kept"] as const;

/**
 * The id and time of the job that a request asks for: new ones, or those of the request that came before with the same
 * Idempotency-Key. Throws AppError(idempotency_key_*).
 */
async function identify(context: Context<ClientEnv>, body: Uint8Array): Promise<{ id: JobId; createdAt: number }> {
  const id = newJobId(randomBytes);
  const createdAt = Date.now();
  const key = context.req.header("idempotency-key");
  if (key === undefined) return { id, createdAt };
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new AppError("idempotency_key_not_valid", "The Idempotency-Key must be 1 to 255 visible ASCII characters");
  }
  const accountId = context.get("account").id;
  const { peppers } = settingsOf(context.env);
  // Under the pepper, because passwords in a body may be weak enough to be guessed by a plain digest of it.
  const digests = await digestsOf(hex(await crypto.subtle.digest("SHA-256", body)), peppers);
  const holder = await claimKey(context.env.DB, { accountId, key, bodyDigest: digests[0], jobId: id, createdAt });
  if (!digests.includes(holder.bodyDigest)) {
    throw new AppError(
      "idempotency_key_reused",
      "This Idempotency-Key came with another body within the last 24 hours",
    );
  }
  return { id: holder.jobId as JobId, createdAt: holder.createdAt };
}

/**
 * Writes the job's row, then begins it, so that a job that was answered is in every list. The row stays when the object
 * cannot be reached: whether it began then, nobody knows, and if it did it will keep the row up to date.
 */
async function createJob(env: ClientEnv["Bindings"], spec: JobSpec): Promise<void> {
  const state = newJob(spec);
  const { id, accountId, createdAt } = spec;
  const row = { id, accountId, createdAt, status: state.status, version: state.version, completedAt: null };
  await upsertJob(env.DB, { ...row, view: JSON.stringify(viewJob(state)), checkAt: Date.now() + CHECK_AFTER_MS });
  for (let attempt = 1; ; attempt++) {
    try {
      return await jobOf(env, id).create(spec);
    } catch (error) {
      log.warn("Job could not be begun", { job: id, attempt, error: messageOf(error) });
      if (attempt === CREATE_ATTEMPTS) throw error;
      await scheduler.wait(CREATE_PAUSE_MS * attempt);
    }
  }
}

/** Beginning a job twice changes nothing, so a lost answer may be asked for again. */
const CREATE_ATTEMPTS = 3;
const CREATE_PAUSE_MS = 100;

/** Whether a job's row answers for it: then its object may be gone. */
function hasEnded(row: JobRow): boolean {
  const status = JOB_STATUSES.find((known) => known === row.status);
  return status !== undefined && isTerminalJob(status);
}

/** The row of the account's own job. Throws AppError(job_not_found). */
export async function ownJob(context: Context<ClientEnv>, id: string): Promise<JobRow> {
  const row = isJobId(id) ? await findJob(context.env.DB, context.get("account").id, id) : null;
  if (!row) throw new AppError("job_not_found", "There is no job with this id");
  return row;
}
