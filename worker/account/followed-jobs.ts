// The event streams that follow an account's jobs, as far as the jobs have reported them.

/** Streams that may follow the jobs of an account at a time: ten jobs with as many as a job may have. */
const MAX_STREAMS = 200;
/** A stream is closed after ten minutes. A job that reports nothing for longer has none. */
const LIFE_MS = 11 * 60_000;

type FollowedJob = { readonly streams: number; readonly until: number };

export class FollowedJobs {
  readonly #jobs = new Map<string, FollowedJob>();

  /** Notes how many streams a job has; false, and notes nothing, if these are more and the account has too many. */
  note(jobId: string, streams: number, now: number): boolean {
    const before = this.#jobs.get(jobId)?.streams ?? 0;
    let others = 0;
    for (const [id, job] of this.#jobs) {
      if (job.until <= now) this.#jobs.delete(id);
      else if (id !== jobId) others += job.streams;
    }
    if (streams > before && others + streams > MAX_STREAMS) return false;
    if (streams > 0) this.#jobs.set(jobId, { streams, until: now + LIFE_MS });
    else this.#jobs.delete(jobId);
    return true;
  }
}
