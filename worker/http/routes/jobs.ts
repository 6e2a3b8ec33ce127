// POST /v2/jobs and GET /v2/jobs/:id.

import { type Context, Hono } from "hono";
import { AppError } from "#shared/errors.ts";
import { isJobId, newJobId } from "#shared/ids.ts";
import { parseJobRequest } from "#shared/job-request.ts";
import { isTerminalJob, JOB_STATUSES } from "#shared/job-status.ts";
import { messageOf } from "#shared/log.ts";
import { findJob, type JobRow, upsertJob } from "../../db/jobs.ts";
import { jobOf, log, settingsOf } from "../../env.ts";
import { sealJobSecrets } from "../../job/job-secrets.ts";
import { type JobSpec, newJob } from "../../job/job-state.ts";
import { viewJob } from "../../job/job-view.ts";
import { unseal } from "../../storage/sealed-secret.ts";
import { type ClientEnv, clientAuth } from "../auth.ts";
import { answer, problem } from "../problem.ts";
import { readJson } from "../read-body.ts";

const notAllowed = (context: Context): Response =>
  problem(context, "method_not_allowed", `${context.req.method} is not allowed here`);

export const jobs = new Hono<ClientEnv>({ strict: false })
  .use(clientAuth)
  .post("/", async (context) => {
    const { sealingKeys, allowPrivate } = settingsOf(context.env);
    const parsed = parseJobRequest(await readJson(context.req), allowPrivate);
    if (!parsed.ok) return problem(context, parsed.refusal.code, parsed.refusal.message);
    const { credentials, ...request } = parsed.value;
    const account = context.get("account");
    const id = newJobId((count) => crypto.getRandomValues(new Uint8Array(count)));
    const webhookSecret = await unseal(account.sealedWebhookSecret, `account:${account.id}`, sealingKeys);
    const sealedSecrets = await sealJobSecrets(id, { credentials, webhookSecret }, sealingKeys);
    const spec: JobSpec = { id, accountId: account.id, createdAt: Date.now(), ...request, sealedSecrets };
    return answer(context, await createJob(context.env, spec), 201);
  })
  .all("/", notAllowed)
  .get("/:id", async (context) => {
    const row = await ownJob(context, context.req.param("id"));
    const status = JOB_STATUSES.find((known) => known === row.status);
    if (status && isTerminalJob(status)) return answer(context, JSON.parse(row.view));
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
  .all("/:id", notAllowed);

/**
 * Writes the job's row, then begins it, so that a job that was answered is in every list. The row stays when the object
 * cannot be reached: whether it began then, nobody knows, and if it did it will keep the row up to date.
 */
async function createJob(env: ClientEnv["Bindings"], spec: JobSpec): Promise<unknown> {
  const state = newJob(spec);
  const { id, accountId, createdAt } = spec;
  const row = { id, accountId, createdAt, status: state.status, version: state.version, completedAt: null };
  await upsertJob(env.DB, { ...row, view: JSON.stringify(viewJob(state)) });
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

/** The row of the account's own job. Throws AppError(job_not_found). */
export async function ownJob(context: Context<ClientEnv>, id: string): Promise<JobRow> {
  const row = isJobId(id) ? await findJob(context.env.DB, context.get("account").id, id) : null;
  if (!row) throw new AppError("job_not_found", "There is no job with this id");
  return row;
}
