// Which jobs a call means, what a plan assumes, and how waiting for a job ends.
import type { CallOptions } from "../http/caller.ts";
import type { Job } from "../types/api.ts";

export type JobStatus = Job["status"];

/** Which jobs. */
export type JobFilter = {
  readonly status?: JobStatus | readonly JobStatus[] | undefined;
  /** Text in the id, the host and path of the input, or the path of an output. */
  readonly q?: string | undefined;
  /** ISO 8601, or `YYYY-MM-DD`. */
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
};

/**
 * Which jobs to change: by id (at most 100), or up to `limit` (at most 100) of those that a filter selects, newest
 * first; `cursor` is the `next_cursor` of the previous result.
 */
export type JobSelection =
  | { readonly ids: readonly string[] }
  | { readonly filter: JobFilter; readonly limit?: number | undefined; readonly cursor?: string | null | undefined };

/** The source that a plan assumes; by default 60 s of 1920 × 1080 with audio. */
export type AssumedSource = {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly fps?: number | undefined;
  readonly duration?: number | undefined;
  readonly rotation?: 0 | 90 | 180 | 270 | undefined;
  readonly audio?: boolean | undefined;
  /** The id of a completed probe: the plan is for what it found. */
  readonly probe?: string | undefined;
};

/** How the connection to a job's events is. */
export type FollowOptions = CallOptions & {
  /** Called when the connection was lost, before the next one. */
  readonly onReconnect?: ((error: unknown) => void) | undefined;
  /** Called before each reading of a job that has as many followers as the service allows. */
  readonly onPoll?: (() => void) | undefined;
};

/** A job that ended without success. */
export class JobFailed extends Error {
  override readonly name = "JobFailed";
  readonly job: Job;

  constructor(job: Job) {
    const errors = [job.input.error, ...job.outputs.map(({ error, key }) => error && `${key}: ${error}`)].filter(
      Boolean,
    );
    super([`The job ${job.id} has the status ${job.status}`, ...errors].join("; "));
    this.job = job;
  }
}
