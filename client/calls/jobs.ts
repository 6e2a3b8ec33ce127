// Jobs: create, read, follow, cancel, retry.
import { type Caller, type CallOptions, pages, pause } from "../http/caller.ts";
import { CopraError } from "../http/copra-error.ts";
import { eventsOf } from "../http/event-stream.ts";
import type {
  Batch,
  BatchResult,
  BulkResult,
  ChangedJob,
  CommandList,
  Delivery,
  DryRunPlan,
  Job,
  JobCounts,
  JobList,
  JobMetadata,
  KeyMetadata,
  NotificationLog,
  QueueView,
  RequestView,
  RunningCommandList,
  TaskList,
} from "../types/api.ts";
import type { JobStreamEvent } from "../types/facts.ts";
import type { JobRequest, TemplateJob } from "../types/job-request.ts";
import {
  type AssumedSource,
  type FollowOptions,
  JobFailed,
  type JobFilter,
  type JobListOptions,
  type JobSelection,
  queryOf,
} from "./job-options.ts";

/** Polling interval for a job that already has as many followers as the service allows. */
const POLL_MS = 5000;

type CreateOptions = CallOptions & { readonly idempotencyKey?: string };

const pathOf = (id: string, rest = ""): string => `/v2/jobs/${encodeURIComponent(id)}${rest}`;

export class Jobs {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Creates a job. Safe to repeat: each call sends an idempotency key, by default a random key. Throws CopraError,
   * whose `field` names the field that is not valid.
   */
  create(request: TemplateJob, options?: CreateOptions): Promise<Job>;
  create<const Key extends string>(request: JobRequest<Key>, options?: CreateOptions): Promise<Job>;
  create(request: object, { idempotencyKey = randomKey(), ...options }: CreateOptions = {}): Promise<Job> {
    const headers = { "idempotency-key": idempotencyKey };
    return this.#caller.json("/v2/jobs", { ...options, method: "POST", json: request, headers, repeatable: true });
  }

  /**
   * Creates up to 500 jobs. The result has the id or the error of each job, in order. Safe to repeat, like `create`:
   * each job has an idempotency key of its own, from the key and the job's place.
   */
  createMany(batch: Batch, { idempotencyKey = randomKey(), ...options }: CreateOptions = {}): Promise<BatchResult> {
    const headers = { "idempotency-key": idempotencyKey };
    return this.#caller.json("/v2/jobs/batch", { ...options, method: "POST", json: batch, headers, repeatable: true });
  }

  /** Checks a batch without creating its jobs: the result has `valid` or the error of each job, in order. */
  checkMany(batch: Batch, options: CallOptions = {}): Promise<BatchResult> {
    const query = { dry_run: true };
    return this.#caller.json("/v2/jobs/batch", { ...options, method: "POST", json: batch, query, repeatable: true });
  }

  /** Plans a job for a source, without creating the job. */
  plan(request: TemplateJob, source?: AssumedSource, options?: CallOptions): Promise<DryRunPlan>;
  plan<const Key extends string>(
    request: JobRequest<Key>,
    source?: AssumedSource,
    options?: CallOptions,
  ): Promise<DryRunPlan>;
  plan(request: object, { tracks, ...source }: AssumedSource = {}, options: CallOptions = {}): Promise<DryRunPlan> {
    const query = { dry_run: true, ...source, tracks: tracks && JSON.stringify(tracks) };
    return this.#caller.json("/v2/jobs", { ...options, method: "POST", json: request, query, repeatable: true });
  }

  get(id: string, options?: CallOptions): Promise<Job> {
    return this.#caller.json(pathOf(id), options);
  }

  /** All jobs that the filter selects, newest first by default. Reads pages of `limit` jobs as they are needed. */
  async *list(filter: JobListOptions = {}, options?: CallOptions): AsyncGenerator<Job> {
    for await (const page of pages((cursor) => this.page({ ...filter, cursor }, options))) yield* page.jobs;
  }

  /** A page of jobs. `next_cursor` is the `cursor` of the next page. */
  page(
    filter: JobListOptions & { readonly cursor?: string | null | undefined } = {},
    options?: CallOptions,
  ): Promise<JobList> {
    return this.#caller.json("/v2/jobs", {
      ...options,
      query: { ...queryOf(filter), cursor: filter.cursor ?? undefined },
    });
  }

  /** The number of jobs by status. */
  counts(filter: Omit<JobFilter, "status"> = {}, options?: CallOptions): Promise<JobCounts> {
    return this.#caller.json("/v2/jobs/counts", { ...options, query: queryOf(filter) });
  }

  /** The job now and after each change, until its end. Reconnects after a lost connection. */
  async *follow(id: string, options?: CallOptions): AsyncGenerator<Job> {
    for await (const { event, data } of this.events(id, options)) if (event === "job") yield data;
  }

  /**
   * The events of a job, until its end: the job, and changes of its tasks. Reconnects after a lost connection. While
   * the job has as many followers as the service allows, the client reads it every 5 s instead, without its tasks.
   */
  async *events(id: string, { onReconnect, onPoll, ...options }: FollowOptions = {}): AsyncGenerator<JobStreamEvent> {
    const reconnect = (error: unknown): void => {
      if (isCrowded(error)) throw error;
      onReconnect?.(error);
    };
    for (;;) {
      try {
        for await (const { event, data } of eventsOf(this.#caller, pathOf(id, "/events"), {
          ...options,
          onReconnect: reconnect,
        })) {
          const parsed = { event, data: JSON.parse(data) } as JobStreamEvent;
          yield parsed;
          if (parsed.event === "end") return;
        }
      } catch (error) {
        if (!isCrowded(error)) throw error;
      }
      onPoll?.();
      const data = await this.get(id, options);
      yield { event: "job", data };
      if (data.completed_at !== null) return yield { event: "end", data };
      await pause(POLL_MS, options.signal);
    }
  }

  /** The completed job. Throws JobFailed if the job failed or was canceled. */
  async wait(id: string, options: CallOptions & { readonly onProgress?: (job: Job) => void } = {}): Promise<Job> {
    let job: Job | undefined;
    for await (job of this.follow(id, options)) options.onProgress?.(job);
    job ??= await this.get(id, options);
    if (job.status !== "job.completed") throw new JobFailed(job);
    return job;
  }

  cancel(id: string, options?: CallOptions): Promise<Job> {
    return this.#caller.json(pathOf(id), { ...options, method: "DELETE" });
  }

  /**
   * Changes the priority, from -50 to 50, of a job that has not ended. Work of a higher priority is assigned first. 50,
   * the default, is the front.
   */
  setPriority(id: string, priority = 50, options?: CallOptions): Promise<Job> {
    const json: ChangedJob = { settings: { priority } };
    return this.#caller.json(pathOf(id), { ...options, method: "PATCH", json });
  }

  /** Changes the tags of a job, also after its end: sets these tags, and removes the tags that are null. */
  setTags(id: string, tags: Readonly<Record<string, string | null>>, options?: CallOptions): Promise<Job> {
    const json: ChangedJob = { tags };
    return this.#caller.json(pathOf(id), { ...options, method: "PATCH", json });
  }

  /** Restarts an ended job for the outputs that it did not finish. */
  retry(id: string, options?: CallOptions): Promise<Job> {
    return this.#caller.json(pathOf(id, "/retry"), { ...options, method: "POST" });
  }

  cancelMany(jobs: JobSelection, options?: CallOptions): Promise<BulkResult> {
    return this.#change("cancel", jobs, options);
  }

  retryMany(jobs: JobSelection, options?: CallOptions): Promise<BulkResult> {
    return this.#change("retry", jobs, options);
  }

  /** ffprobe's data about the input and all outputs, or about a single file: the key of an output, or `input`. */
  metadata(id: string, key?: undefined, options?: CallOptions): Promise<JobMetadata>;
  metadata(id: string, key: string, options?: CallOptions): Promise<KeyMetadata>;
  metadata(id: string, key?: string, options?: CallOptions): Promise<JobMetadata | KeyMetadata> {
    const path = `/v2/metadata/jobs/${encodeURIComponent(id)}`;
    return this.#caller.json(key === undefined ? path : `${path}/${encodeURIComponent(key)}`, options);
  }

  /** The tasks and chunks of a job, and their ended attempts. */
  tasks(id: string, options?: CallOptions): Promise<TaskList> {
    return this.#caller.json(pathOf(id, "/tasks"), options);
  }

  /** The commands that nodes ran, without secrets. */
  commands(id: string, options?: CallOptions): Promise<CommandList> {
    return this.#caller.json(pathOf(id, "/commands"), options);
  }

  /** The commands that run now, without secrets, with the last lines of their output. The nodes are asked each time. */
  running(id: string, options?: CallOptions): Promise<RunningCommandList> {
    return this.#caller.json(pathOf(id, "/running"), options);
  }

  /** The request with the sections of its template, without secrets. */
  request(id: string, options?: CallOptions): Promise<RequestView> {
    return this.#caller.json(pathOf(id, "/request"), options);
  }

  /**
   * The number of jobs before this job, and the estimated time until a node starts it; null when the job does not wait.
   */
  queue(id: string, options?: CallOptions): Promise<QueueView> {
    return this.#caller.json(pathOf(id, "/queue"), options);
  }

  /** The log of notifications. */
  async notifications(id: string, options?: CallOptions): Promise<Delivery[]> {
    const log = await this.#caller.json<NotificationLog>(pathOf(id, "/notifications"), options);
    return log.notifications;
  }

  #change(what: "cancel" | "retry", jobs: JobSelection, options?: CallOptions): Promise<BulkResult> {
    const json =
      "filter" in jobs
        ? {
            ...jobs,
            filter: { ...jobs.filter, status: jobs.filter.status?.toString() },
            cursor: jobs.cursor ?? undefined,
          }
        : jobs;
    // Retrying by a filter is not repeatable: the filter may then select jobs that have failed since. Canceling a
    // canceled job changes nothing.
    const repeatable = what === "cancel" || "ids" in jobs;
    return this.#caller.json(`/v2/jobs/${what}`, { ...options, method: "POST", json, repeatable });
  }
}

/** The service limits the number of streams of a job. A further stream would wait long. */
const isCrowded = (error: unknown): boolean => error instanceof CopraError && error.status === 429;

/** Also works on pages without https, where `crypto.randomUUID` does not exist. */
const randomKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join("-");
