// Options of calls about jobs: filters and selections, the source of a plan, and events while a job runs.
import type { CallOptions } from "../http/caller.ts";
import type { DryRunPlan, Job } from "../types/api.ts";

export type JobStatus = Job["status"];

/** Filters jobs. */
export type JobFilter = {
  readonly status?: JobStatus | readonly JobStatus[] | undefined;
  /** Text in the job's id, the host and path of its input, or the path of an output. */
  readonly q?: string | undefined;
  /** ISO 8601, or `YYYY-MM-DD`. */
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
  /** Only jobs with all of these tags; at most three. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
};

/** Filters and sorts a list of jobs, the newest or longest first. `ended` and `took` leave out unfinished jobs. */
export type JobListOptions = JobFilter & {
  readonly sort?: "created" | "ended" | "took" | undefined;
  /** Jobs of a page; at most 100. */
  readonly limit?: number | undefined;
};

/** The parameters of a query for a filter: each tag is the parameter `tag.<name>`. */
export const queryOf = <Filter extends { readonly tags?: JobFilter["tags"] }>({ tags = {}, ...filter }: Filter) => ({
  ...filter,
  ...Object.fromEntries(Object.entries(tags).map(([name, value]) => [`tag.${name}`, value])),
});

/**
 * Selects the jobs to change: by id (at most 100), or up to `limit` jobs (at most 100) that a filter selects, newest
 * first. `cursor` is the `next_cursor` of the previous result.
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
  /** The tracks beside the video, instead of `audio`. */
  readonly tracks?: DryRunPlan["assumed_source"]["tracks"] | undefined;
  /** The id of a completed probe. The plan is for the source that it inspected. */
  readonly probe?: string | undefined;
};

/** Options for the connection to a job's events. */
export type FollowOptions = CallOptions & {
  /** Called after a lost connection, before the client reconnects. */
  readonly onReconnect?: ((error: unknown) => void) | undefined;
  /** Called before each reading of a job that already has as many followers as the service allows. */
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
