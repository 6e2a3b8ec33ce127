// The number of an account's unfinished jobs, without reading the index each time: a count is reused, and jobs that
// started since are added. Jobs that ended since are not subtracted, so that the number is rarely too low.

/** `counted` at `at` (ms since 1970); `started` jobs since. */
export type JobCount = { readonly counted: number; readonly at: number; readonly started: number };

const KEEP_MS = 60_000;
/** How long a count at the limit is reused: jobs may have ended since. */
const KEEP_AT_LIMIT_MS = 5000;

/** Whether another job is admitted; `count`: the jobs must be counted first. */
export function judgeJob(count: JobCount | null, limit: number, now: number): "admit" | "reject" | "count" {
  if (!count || now - count.at > KEEP_MS) return "count";
  if (count.counted + count.started < limit) return "admit";
  return now - count.at > KEEP_AT_LIMIT_MS ? "count" : "reject";
}
