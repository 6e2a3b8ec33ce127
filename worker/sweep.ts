// Finds stuck jobs: a lost alarm, a row whose job never started, an outdated row. Each job's row has the time of the
// next check of the job's object. The check itself repairs the job. A sweep also evaluates alerts, deletes expired
// rows, and ends upload links.
import { messageOf } from "#shared/log.ts";
import type { Env } from "./bindings.ts";
import { deleteOldRows } from "./db/expired-rows.ts";
import { endLostJob, findJob, type JobToCheck, jobsToCheck, scheduleChecks } from "./db/jobs/jobs.ts";
import { deleteOldTagUsage } from "./db/usage/tag-usage.ts";
import { dayOf } from "./db/usage/usage-day.ts";
import { withDeadline } from "./deadline.ts";
import { sweepAlerts } from "./http/alerts/sweep-alerts.ts";
import { sweepLinks } from "./http/upload-links/sweep-links.ts";
import { CHECK_AFTER_MS } from "./job/effects/job-effects.ts";
import { lostView } from "./job/views/lost-view.ts";
import { log } from "./log.ts";
import { jobOf } from "./rpc/job.ts";
import { settingsOf } from "./settings.ts";
import { removeExpiredUploads } from "./storage/source-uploads/remove-uploads.ts";

/**
 * Maximum number of objects that a sweep checks, and its duration. An unfinished job is checked ten minutes after its
 * creation, 20 to 30 minutes later, and then about once an hour. With a sweep every two minutes, 150,000 old jobs or
 * 25,000 new jobs are checked in time. With more jobs, or responses slower than half a second, checks are less
 * frequent, the longest due first. The paid plan allows an invocation 10,000 subrequests and 1000 queries; a sweep uses
 * 5000 and 200. The free plan allows 1000 and 50: there a sweep fails after about 1000 objects, and the next sweep
 * continues (https://developers.cloudflare.com/workers/platform/limits/ and /d1/platform/limits/).
 */
const MAX_CHECKS = 5000;
const SWEEP_MS = 60_000;
const CONCURRENT = 50;
/**
 * Size of the first portion; the size doubles. Each portion is recorded before the next starts. A sweep that the
 * platform ends for its CPU time (10 ms on the Free plan) leaves less to do for the next sweep.
 */
const FIRST_PORTION = 5;
/** Time limit for an object: an object that hangs delays the other checks of its portion. */
const RESPONSE_MS = 10_000;
/** Limits of a sweep for each table with expired rows. Most sweeps have nothing to delete. */
const EXPIRY = { maxPortions: 40, maxMs: 15_000 };

type Step = (env: Env, now: number, responseMs: number) => Promise<void>;

/**
 * The steps of a sweep, each with the time until the next step starts without waiting for it. Alerts are first: clients
 * cannot delay them.
 */
const STEPS: readonly (readonly [name: string, step: Step, budgetMs: number])[] = [
  ["alerts", sweepAlerts, 30_000],
  ["jobs", checkDue, SWEEP_MS + 2 * RESPONSE_MS],
  ["rows", deleteOld, 3 * EXPIRY.maxMs],
  ["links", sweepLinks, 60_000],
  ["uploads", removeExpiredUploads, 60_000],
];

/**
 * Runs a sweep. A step that fails or is late does not stop the others; the next sweep repeats it. Throws the first
 * error after all steps. Tests have shorter limits.
 */
export async function sweep(env: Env, now: number, responseMs = RESPONSE_MS, stepMs = SWEEP_MS * 2): Promise<void> {
  const errors: unknown[] = [];
  for (const [name, step, budgetMs] of STEPS) {
    try {
      await withDeadline(name, step(env, now, responseMs), Math.min(budgetMs, stepMs));
    } catch (error) {
      log.error("sweep step failed", { step: name, error: messageOf(error) });
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** Deletes expired rows. */
async function deleteOld(env: Env, now: number): Promise<void> {
  const isFull = await deleteOldRows(env.DB, now, settingsOf(env), EXPIRY);
  await deleteOldTagUsage(env.DB, dayOf(now));
  if (isFull) log.error("database nearly full", { deletes: "ended jobs after RETENTION_DAYS instead of LIST_DAYS" });
}

async function checkDue(env: Env, now: number, limitMs: number): Promise<void> {
  let portion = FIRST_PORTION;
  for (let checked = 0; checked < MAX_CHECKS && Date.now() < now + SWEEP_MS; checked += portion) {
    if (checked > 0) portion = Math.min(2 * portion, CONCURRENT);
    const due = await jobsToCheck(env.DB, now, portion);
    const checks = await Promise.all(due.map((job) => check(env, job, { now, limitMs })));
    await scheduleChecks(
      env.DB,
      checks.filter((check) => check !== null),
    );
    if (due.length < portion) return;
  }
}

/** Checks a job's object. Returns the time of the next check; null if the row has it already. */
async function check(
  env: Env,
  job: JobToCheck,
  { now, limitMs }: { now: number; limitMs: number },
): Promise<Pick<JobToCheck, "id" | "checkAt"> | null> {
  const { id, accountId } = job;
  try {
    const checkAt = await withDeadline("check", jobOf(env, id).check(job.version), limitMs);
    if (checkAt !== null || job.completedAt !== null) return { id, checkAt };
    const row = await findJob(env.DB, accountId, id);
    if (!row) return null;
    log.error("lost job ended as failed", { job: id });
    const { status, view } = lostView(row, now);
    await endLostJob(env.DB, job, { status, completedAt: now, view });
    return null;
  } catch (error) {
    log.error("job check failed", { job: id, error: messageOf(error) });
    // Checked after the other jobs, which it would delay.
    return { id, checkAt: now + CHECK_AFTER_MS };
  }
}
