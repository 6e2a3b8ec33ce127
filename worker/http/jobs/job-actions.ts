// Cancels and retries jobs: a single job, or many in a request.
import type { Context } from "hono";
import { AppError, type Failure } from "#shared/errors.ts";
import { isJobId } from "#shared/ids.ts";
import type { JobStatus } from "#shared/job/job-status.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { changedTags, MAX_TAGS, type TagChanges, TOO_MANY_TAGS, tagsText } from "#shared/job/tags.ts";
import { messageOf } from "#shared/log.ts";
import { readTraceContext } from "#shared/network/trace-context.ts";
import type { JobChanges } from "#shared/request/settings-section.ts";
import { err, ok, type Result } from "#shared/result.ts";
import { type IndexedJob, type JobRow, jobsOf, updateView, upsertJob } from "../../db/jobs/jobs.ts";
import { withDeadline } from "../../deadline.ts";
import { CHECK_AFTER_MS } from "../../job/effects/job-effects.ts";
import { log } from "../../log.ts";
import { type JobResult, jobOf } from "../../rpc/job.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { isTransientError } from "../responses/json-response.ts";
import { requireJobQuota } from "./create/job-quota.ts";

type Action = (context: Context<ClientEnv>, job: IndexedJob) => Promise<Result<JobView>>;

const conflict = (message: string): Result<never> => err({ code: "job_state_conflict", message });

/** Cancels a job of the account. */
export const cancelJob: Action = async ({ env }, { id }) => {
  const cancelled = await withDeadline<JobResult<JobView>>("cancel", jobOf(env, id).cancel());
  return unlessEnded(cancelled);
};

/** Changes the priority or the tags of a job of the account. If the job has ended, only its tags. */
export async function changeJob(
  context: Context<ClientEnv>,
  row: JobRow,
  { settings, tags }: JobChanges,
): Promise<Result<JobView>> {
  if (settings) {
    const prioritized = await prioritizeJob(context, row, settings.priority);
    if (!prioritized.ok || !tags) return prioritized;
  }
  return tagJob(context, row, tags ?? {});
}

async function prioritizeJob(
  { env }: Context<ClientEnv>,
  { id }: IndexedJob,
  priority: number,
): Promise<Result<JobView>> {
  return unlessEnded(await withDeadline<JobResult<JobView>>("prioritize", jobOf(env, id).prioritize(priority)));
}

/** Changes the tags of a job, also after its end, when only its row may be left. */
async function tagJob({ env }: Context<ClientEnv>, row: JobRow, changes: TagChanges): Promise<Result<JobView>> {
  const tagged = await withDeadline<JobResult<{ view: JobView; version: number }>>(
    "tag",
    jobOf(env, row.id).tag(changes),
  );
  if (!tagged.ok && tagged.error.code !== "job_not_found") return err(tagged.error);
  const { view, version } = tagged.ok ? tagged.value : { view: taggedView(row, changes), version: row.version };
  if (Object.keys(view.tags ?? {}).length > MAX_TAGS) return err(TOO_MANY_TAGS);
  // Lists, and responses for ended jobs, come from the row. So the row is updated before the response.
  const changed = { id: row.id, status: view.status, version, view: JSON.stringify(view), tags: tagsText(view.tags) };
  await updateView(env.DB, changed);
  return ok(view);
}

function taggedView(row: JobRow, changes: TagChanges): JobView {
  const { tags: before, ...view }: JobView = JSON.parse(row.view);
  const tags = changedTags(before, changes);
  return { ...view, ...(tags ? { tags } : {}) };
}

/** Converts the result. The object of an ended job may be deleted; its row contains the final status. */
function unlessEnded(changed: JobResult<JobView>): Result<JobView> {
  if (changed.ok) return ok(changed.value);
  const gone = changed.error.code === "job_not_found";
  return conflict(gone ? "The job has already ended" : changed.error.message);
}

/** Restarts an ended job of the account. Throws AppError(too_many_jobs). */
export const retryJob: Action = async (context, job) => {
  const { env } = context;
  await requireJobQuota({ env: context.env, account: context.get("account") }, null);
  const retried = await withDeadline<JobResult<{ view: JobView; version: number }>>(
    "retry",
    jobOf(env, job.id).retry(readTraceContext(context.req.raw.headers)),
  );
  if (!retried.ok) {
    const gone = retried.error.code === "job_not_found";
    return conflict(gone ? "The job was deleted; create a new job" : retried.error.message);
  }
  const { view, version } = retried.value;
  // Responses for ended jobs come from the row. So the row is updated before the response.
  const restarted = { version, status: view.status, completedAt: null, view: JSON.stringify(view) };
  await upsertJob(env.DB, { ...job, ...restarted, usage: null, checkAt: Date.now() + CHECK_AFTER_MS });
  return ok(view);
};

/** Concurrent calls to jobs' objects. */
const CONCURRENT = 10;

type Done = { id: string; status?: JobStatus; error?: { error_code: Failure["code"]; message: string } };

/** Applies an action to many jobs. Reports the new status of each job, or the reason why it did not change. */
export async function actOnJobs(context: Context<ClientEnv>, ids: readonly string[], action: Action): Promise<Done[]> {
  const jobs = await jobsOf(context.env.DB, context.get("account").id, ids.filter(isJobId));
  const rows = new Map(jobs.map((row) => [row.id, row]));
  const done: Done[] = [];
  for (let at = 0; at < ids.length; at += CONCURRENT) {
    const some = ids.slice(at, at + CONCURRENT);
    done.push(...(await Promise.all(some.map((id) => actOn(context, { id, row: rows.get(id) }, action)))));
  }
  return done;
}

async function actOn(
  context: Context<ClientEnv>,
  { id, row }: { id: string; row: IndexedJob | undefined },
  action: Action,
): Promise<Done> {
  const failed = ({ code, message }: Failure): Done => ({ id, error: { error_code: code, message } });
  if (!row) return failed({ code: "job_not_found", message: "The account has no job with this id" });
  try {
    const result = await action(context, row);
    return result.ok ? { id, status: result.value.status } : failed(result.error);
  } catch (error) {
    return failed(failureOfOne(error, id));
  }
}

/** The failure of one job of many, for the client. */
export function failureOfOne(error: unknown, job = ""): Failure {
  if (error instanceof AppError) return error;
  log.error("job action failed", { job, error: messageOf(error) });
  return isTransientError(error)
    ? { code: "service_unavailable", message: "The job is temporarily unavailable; try again later" }
    : { code: "internal_error", message: "An internal error occurred" };
}
