// What was seen of every job and lease by its client and by the simulated nodes, and what of that must not be.
import { type LeaseId, parseLeaseId } from "#shared/ids.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { PostAnswer } from "../../encoder-node/link/control-plane.ts";

/** Everything takes place in one process, so that the order in which things are noted is the order of their happening. */
export class Ledger {
  /** Whether nothing fails meanwhile; else leases may lapse and be granted again, and cancelled where they still run. */
  readonly #isCalm: boolean;
  readonly violations: string[] = [];
  /** By id. Times are those of performance.now(). */
  readonly jobs = new Map<string, { postedAt: number; takenAt: number }>();
  /** From the POST of a job to its first assignment, and from the report of one task to the assignment of the next. */
  readonly firstAssignMs: number[] = [];
  readonly nextAssignMs: number[] = [];
  readonly welcomed = new Map<string, number>();
  assignments = 0;
  cancels = 0;
  /** Reports that had to be sent again. */
  retries = 0;
  readonly #assigned = new Set<string>();
  /** By task: the lease that a node works on. */
  readonly #active = new Map<string, LeaseId>();
  readonly #completed = new Set<string>();
  readonly #reporting = new Set<LeaseId>();
  /** By job: when its latest report was sent. */
  readonly #reportedAt = new Map<string, number>();

  constructor(isCalm: boolean) {
    this.#isCalm = isCalm;
  }

  connected(nodeId: string): void {
    this.welcomed.set(nodeId, (this.welcomed.get(nodeId) ?? 0) + 1);
  }

  submitted(jobId: string, postedAt: number): void {
    this.jobs.set(jobId, { postedAt, takenAt: performance.now() });
    const early = this.#early.get(jobId);
    if (early !== undefined) this.firstAssignMs.push(early - postedAt);
    this.#early.delete(jobId);
  }
  /** By job: its first assignment, where that came before the answer to the POST. */
  readonly #early = new Map<string, number>();

  assigned(nodeId: string, { lease, jobId, task }: Assignment, freeSlots: number): void {
    const now = performance.now();
    this.assignments += 1;
    if (this.#assigned.has(lease)) this.violations.push(`${lease} was assigned twice, now to ${nodeId}`);
    if (freeSlots < 1) this.violations.push(`${lease} came to ${nodeId}, which had no free slot`);
    this.#assigned.add(lease);
    const name = taskOf(lease);
    const other = this.#active.get(name);
    if (other && this.#isCalm) this.violations.push(`${lease} was assigned while ${other} was worked on`);
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
    this.#reportedAt.set(lease.slice(0, lease.indexOf(".")), performance.now());
  }

  reported(lease: LeaseId, answer: PostAnswer): void {
    const name = taskOf(lease);
    this.#active.delete(name);
    if (answer.kind !== "taken")
      this.violations.push(`The report on ${lease} was not taken: ${JSON.stringify(answer)}`);
    else if (this.#completed.has(name)) this.violations.push(`${name} was completed twice`);
    else this.#completed.add(name);
  }

  cancelled(lease: LeaseId): void {
    this.cancels += 1;
    // Signs of life cross with reports: a lease that has just ended by one is cancelled, which means nothing to its node.
    if (this.#isCalm && !this.#reporting.has(lease)) this.violations.push(`${lease} was cancelled`);
  }

  /** A notification came: a job has one, which may come more than once. */
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

  /** From the POST of each job that has ended to its notification. */
  endMs(): number[] {
    return [...this.#ends].flatMap(([id, { at }]) => at - (this.jobs.get(id)?.postedAt ?? Number.NaN));
  }
}

const taskOf = (lease: LeaseId): string => {
  const { job, task } = parseLeaseId(lease) ?? {};
  return `${job}.${task}`;
};
