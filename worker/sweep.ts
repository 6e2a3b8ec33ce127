// Finds jobs that went quiet: an alarm that was lost, a row whose job was never begun, a row that is behind. Every job's row says
// when to ask its object; an object that answers is mended by being asked.
import { messageOf } from "#shared/log.ts";
import { forgetKeys } from "./db/idempotency.ts";
import { checkAgain, endLostJob, findJob, type JobToCheck, jobsToCheck } from "./db/jobs.ts";
import { type Env, jobOf, log } from "./env.ts";
import { CHECK_AFTER_MS } from "./job/effects/job-effects.ts";
import { lostView } from "./job/views/lost-view.ts";

/**
 * Objects that one round asks, and for how long. A job that lives is asked after every 10 to 15 minutes, so that with a
 * round every two minutes 25,000 of them are in time; where more live, or an answer takes longer than half a second, each is
 * asked less often, those first that wait longest. The paid plan allows an invocation 10,000 subrequests and 1000 queries,
 * of which this is half and 200. The free plan allows 1000 and 50: there a round ends with an error after some 1000
 * objects, and the next one goes on (https://developers.cloudflare.com/workers/platform/limits/ and /d1/platform/limits/).
 */
const ROUND = 5000;
const ROUND_MS = 60_000;
const AT_A_TIME = 50;
/** How long an object is waited for: one that hangs holds up those that were asked with it. */
const ANSWER_MS = 10_000;
const KEYS_A_ROUND = 1000;

/** One round. Throws AppError(service_unavailable) while the database does not answer; the next round begins anew. */
export async function sweep(env: Env, now: number, answerMs = ANSWER_MS): Promise<void> {
  await forgetKeys(env.DB, now, KEYS_A_ROUND);
  for (let asked = 0; asked < ROUND && Date.now() < now + ROUND_MS; asked += AT_A_TIME) {
    const due = await jobsToCheck(env.DB, now, AT_A_TIME);
    const checks = await Promise.all(due.map((job) => check(env, job, { now, answerMs })));
    await checkAgain(
      env.DB,
      checks.filter((one) => one !== null),
    );
    if (due.length < AT_A_TIME) return;
  }
}

/** Asks one job's object. Answers when to look again; null when the row says it already. */
async function check(
  env: Env,
  job: JobToCheck,
  { now, answerMs }: { now: number; answerMs: number },
): Promise<{ id: string; checkAt: number | null } | null> {
  const { id, accountId } = job;
  try {
    const checkAt = await within(answerMs, jobOf(env, id).kick(job.version));
    if (checkAt !== null || job.completedAt !== null) return { id, checkAt };
    const row = await findJob(env.DB, accountId, id);
    if (!row) return null;
    log.error("A job is lost and was ended", { job: id });
    const { status, view } = lostView(row, now);
    await endLostJob(env.DB, job, { status, completedAt: now, view });
    return null;
  } catch (error) {
    log.error("A job cannot be asked after", { job: id, error: messageOf(error) });
    // Behind the others, which it would keep waiting.
    return { id, checkAt: now + CHECK_AFTER_MS };
  }
}

async function within<Value>(limitMs: number, answer: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
