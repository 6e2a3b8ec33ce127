// Records the events of every job and lease that clients and simulated nodes see, and finds violations of promises.
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { PostResult } from "../../encoder-node/link/control-plane.ts";

/** Records all events in a single process, so that their order is the order in which they happened. */
export class Observations {
  /** False if the test kills processes: leases may then expire, be assigned again, and be cancelled while they run. */
  readonly #withoutFaults: boolean;
  readonly violations: string[] = [];
  /** Times of each job, by job id, from performance.now(). */
  readonly jobs = new Map<string, { postedAt: number; acceptedAt: number }>();
  /** Times from the POST of a job to its first assignment, and from the report of a task to the next assignment. */
  readonly firstAssignMs: number[] = [];
  readonly nextAssignMs: number[] = [];
  readonly welcomed = new Map<string, number>();
  assignments = 0;
  cancels = 0;
  /** Number of repeated requests. */
  retries = 0;
  readonly #assigned = new Set<string>();
  /** The lease that a node works on, by task. */
  readonly #active = new Map<string, LeaseId>();
  readonly #completed = new Set<string>();
  readonly #reporting = new Set<LeaseId>();
  /** Send time of the latest report, by job. */
  readonly #reportedAt = new Map<string, number>();

  constructor(withoutFaults: boolean) {
    this.#withoutFaults = withoutFaults;
  }

  connected(nodeId: string): void {
    this.welcomed.set(nodeId, (this.welcomed.get(nodeId) ?? 0) + 1);
  }

  submitted(jobId: string, postedAt: number): void {
    this.jobs.set(jobId, { postedAt, acceptedAt: performance.now() });
    const early = this.#early.get(jobId);
    if (early !== undefined) this.firstAssignMs.push(early - postedAt);
    this.#early.delete(jobId);
  }
  /** Time of the first assignment by job, if it came before the response to the POST. */
  readonly #early = new Map<string, number>();

  assigned(nodeId: string, { lease, jobId, task }: Assignment, freeSlots: number): void {
    const now = performance.now();
    this.assignments += 1;
    if (this.#assigned.has(lease)) this.violations.push(`${lease} was assigned twice, now to ${nodeId}`);
    if (freeSlots < 1) this.violations.push(`${lease} came to ${nodeId}, which had no free slot`);
    this.#assigned.add(lease);
    const name = taskOf(lease);
    const other = this.#active.get(name);
    if (other && this.#withoutFaults) this.violations.push(`${lease} was assigned while ${other} was worked on`);
    this.#active.set(name, lease);
    const postedAt = this.jobs.get(jobId)?.postedAt;
    const reportedAt = this.#reportedAt.get(jobId);
    if (task.kind !== "inspect") {
      if (reportedAt !== undefined) this.nextAssignMs.push(now - reportedAt);
    } else if (postedAt === undefined) this.#early.set(jobId, now);
    else this.firstAssignMs.push(now - postedAt);
  }

  reporting(lease: LeaseId): void {
    this.#reporting.add(lease);
    this.#reportedAt.set(parseLeaseId(lease)?.job ?? "", performance.now());
  }

  reported(lease: LeaseId, response: PostResult): void {
    const name = taskOf(lease);
    this.#active.delete(name);
    if (response.kind !== "accepted")
      this.violations.push(`The report on ${lease} was not accepted: ${JSON.stringify(response)}`);
    else if (this.#completed.has(name)) this.violations.push(`${name} was completed twice`);
    else this.#completed.add(name);
  }

  cancelled(lease: LeaseId): void {
    this.cancels += 1;
    // Heartbeats and reports cross each other: a lease that has just ended is cancelled. Its node ignores that.
    if (this.#withoutFaults && !this.#reporting.has(lease)) this.violations.push(`${lease} was cancelled`);
  }

  /** Records a notification. A job has a single notification, which may be delivered more than once. */
  ended(jobId: string, event: string, id: string): void {
    const job = this.#ends.get(jobId);
    if (event !== "job.completed") this.violations.push(`${jobId} ended by ${event}`);
    if (job && job.id !== id) this.violations.push(`${jobId} ended twice`);
    if (!job) this.#ends.set(jobId, { id, at: performance.now() });
  }
  readonly #ends = new Map<string, { id: string; at: number }>();

  get endedJobs(): number {
    return this.#ends.size;
  }

  /** Times from the POST to the notification of each job that has ended. */
  endMs(): number[] {
    return [...this.#ends].flatMap(([id, { at }]) => at - (this.jobs.get(id)?.postedAt ?? Number.NaN));
  }
}

const taskOf = (lease: LeaseId): string => {
  const { job, task } = parseLeaseId(lease) ?? {};
  return `${job}.${task}`;
};
