// The observations of each job from outside: by clients, nodes and the receiver of webhooks.
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { NodeObserver } from "../node.ts";
import type { Delivered } from "../platform/internet.ts";
import type { VirtualTime } from "../platform/virtual-time.ts";
import type { Workload } from "../work.ts";
import { FairShares } from "./fair-shares.ts";

export type JobRecord = {
  readonly account: number;
  readonly priority: number;
  readonly workload: Workload;
  readonly submittedAt: number;
  /** Time since which a runnable task of the job has had no node; null if no task waits. */
  waitingSince: number | null;
  /** Total waiting time of its tasks for nodes, in ms. */
  waitedMs: number;
  fetches: number;
  encodes: number;
  /** Encodes whose result was accepted. */
  done: number;
  /** The ids of its notifications, without duplicates. */
  readonly notified: Set<string>;
  endedAt: number | null;
  isCompleted: boolean;
};

const NO_WORK: Workload = { seconds: 60, fetchMs: 1000, encodeMs: 1000, chunkMs: 0, joinMs: 0, videoBytes: 1000 };

export class Observations implements NodeObserver {
  readonly jobs = new Map<string, JobRecord>();
  readonly #time: VirtualTime;
  /** Encoding time that each account has received, in ms. */
  readonly encodedMs = new Map<number, number>();
  /** Tasks that were assigned to each node. */
  readonly assignments = new Map<string, number>();
  /** A node that fails every task. */
  badNode: string | null = null;
  ended = 0;
  failedReports = 0;
  readonly fairness = new FairShares();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  submitted(id: string, job: Pick<JobRecord, "account" | "priority" | "workload" | "submittedAt">): void {
    this.fairness.submitted(job.account, job.workload.encodeMs);
    this.jobs.set(id, {
      ...job,
      waitingSince: this.#time.now,
      waitedMs: 0,
      fetches: 0,
      encodes: 0,
      done: 0,
      notified: new Set(),
      endedAt: null,
      isCompleted: false,
    });
  }

  /** The work of a job at a node. */
  workloadOf(jobId: string, nodeId: string): Workload {
    const workload = this.jobs.get(jobId)?.workload ?? NO_WORK;
    if (nodeId !== this.badNode) return workload;
    return { ...workload, fails: { code: "node_failed", message: "This node fails every task" } };
  }

  assigned({ jobId, kind }: Assignment, nodeId: string): void {
    this.assignments.set(nodeId, (this.assignments.get(nodeId) ?? 0) + 1);
    const job = this.jobs.get(jobId);
    if (!job) return;
    if (kind === "encode") {
      if (job.encodes === 0) this.fairness.started(job.account, job.workload.encodeMs);
      job.encodes += 1;
    }
    if (job.waitingSince !== null) job.waitedMs += this.#time.now - job.waitingSince;
    job.waitingSince = null;
  }

  fetched({ jobId }: Assignment): void {
    const job = this.jobs.get(jobId);
    if (job) job.fetches += 1;
  }

  reported({ jobId, kind }: Assignment, verb: "complete" | "fail"): void {
    const job = this.jobs.get(jobId);
    if (!job) return;
    if (verb === "fail") {
      this.failedReports += 1;
      job.waitingSince ??= this.#time.now;
    } else if (kind === "inspect") job.waitingSince ??= this.#time.now;
    else {
      job.done += 1;
      this.encodedMs.set(job.account, (this.encodedMs.get(job.account) ?? 0) + job.workload.encodeMs);
    }
  }

  /** Handles a webhook. */
  notified({ id, body }: Delivered): boolean {
    const { job_id, event } = JSON.parse(body) as { job_id: string; event: string };
    const job = this.jobs.get(job_id);
    if (!job) return true;
    job.notified.add(id);
    if (job.endedAt !== null) return true;
    job.endedAt = this.#time.now;
    job.isCompleted = event === "job.completed";
    this.ended += 1;
    return true;
  }
}
