// How many jobs of an account have not ended, without asking the index each time: counted now and then, and what was begun
// since is added. What ended since is not taken off, so that the count is never too low but for what is being begun.

/** `counted` at `at` (ms since 1970); `begun` jobs since. */
export type JobCount = { readonly counted: number; readonly at: number; readonly begun: number };

const KEEP_MS = 60_000;
/** An account at its limit is counted again after this long: something may have ended. */
const KEEP_AT_LIMIT_MS = 5000;

/** What is to be said to a request for another job: yes, no, or only after the index was asked. */
export function judgeJob(count: JobCount | null, limit: number, now: number): "admit" | "refuse" | "count" {
  if (!count || now - count.at > KEEP_MS) return "count";
  if (count.counted + count.begun < limit) return "admit";
  return now - count.at > KEEP_AT_LIMIT_MS ? "count" : "refuse";
}
