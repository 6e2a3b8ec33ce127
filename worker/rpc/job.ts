// The calls of a job's object.
import type { DurableObject } from "cloudflare:workers";
import type { DeliveryView } from "#shared/api/job-responses.ts";
import type { ProbeView } from "#shared/api/probe-responses.ts";
import type { Failure } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import type { JobView } from "#shared/job/job-view.ts";
import type { TraceContext } from "#shared/network/trace-context.ts";
import type { CompleteReport, FailReport, OutputsReport } from "#shared/protocol/reports.ts";
import type { ChunksAnswer, ChunksRequest, ScratchAnswer, ScratchRequest } from "#shared/protocol/scratch.ts";
import type { UploadsAnswer, UploadsRequest } from "#shared/protocol/uploads.ts";
import type { Result } from "#shared/result.ts";
import type { UploadHolder } from "../storage/object-store.ts";
import type { JobSpec } from "./job-spec.ts";
import type { Turn, TurnAnswer } from "./turn.ts";

/** Errors are returned, because an error that is thrown across RPC loses its class. */
export type JobResult<Value> = Result<Value, Failure & { readonly retryAfterSeconds?: number }>;

export const JOB_NOT_FOUND: Failure = { code: "job_not_found", message: "There is no such job" };
export const PROBE_NOT_FOUND: Failure = {
  code: "probe_not_found",
  message: "The account has no probe with this id, or it was removed a day after its end",
};
export const LEASE_SUPERSEDED: Failure = {
  code: "lease_superseded",
  message: "This lease is no longer valid: stop the work and discard it",
};

/** The calls about leases, from the hub and from nodes. */
export interface LeaseRpc {
  /** All that a hub has for the job. A repeated turn changes nothing that the first has changed. */
  turn(turn: Turn): Promise<TurnAnswer>;
  /** Signs uploads for files of a lease's task. */
  uploads(lease: LeaseId, request: UploadsRequest): Promise<JobResult<UploadsAnswer>>;
  /** True if an upload that was signed for a lease may still be stored in the service's own storage. */
  mayStore(holder: UploadHolder): Promise<boolean>;
  /** Signs requests on the job's scratch folder for a lease's task. */
  scratch(lease: LeaseId, request: ScratchRequest): Promise<JobResult<ScratchAnswer>>;
  /** The chunks that are done, for a lease's task that joins them while others are encoded. */
  chunks(lease: LeaseId, request: ChunksRequest): Promise<JobResult<ChunksAnswer>>;
  /** Outputs of a lease's task were made or failed, and the task continues. A repeated report changes nothing. */
  outputs(lease: LeaseId, report: OutputsReport): Promise<JobResult<null>>;
  /** A lease's task is done. A repeated report changes nothing. */
  complete(lease: LeaseId, report: CompleteReport): Promise<JobResult<null>>;
  /** A lease's task failed. */
  fail(lease: LeaseId, report: FailReport): Promise<JobResult<null>>;
}

/**
 * How a job is done: its tasks and their attempts, the commands that ran, the request as it was understood, and its
 * place in the queue.
 */
export type JobFact = "tasks" | "commands" | "request" | "queue";

/** Its `fetch` opens a socket with the events that follow the job to its end (worker/events). */
export interface JobRpc extends DurableObject<unknown>, LeaseRpc {
  /** Starts the job; a repeated call changes nothing. */
  create(spec: JobSpec): Promise<void>;
  /** The job as its client sees it. */
  view(): Promise<JobResult<JobView>>;
  /**
   * A probe of the account, as soon as it has ended, or after `waitMs` at the latest. Returns `probe_not_found` for a
   * job that is no probe, too.
   */
  probe(accountId: string, waitMs: number): Promise<JobResult<ProbeView>>;
  /** The body of the metadata response, in JSON: all that is known so far, or that of one output or of the input. */
  metadata(key: string | null): Promise<JobResult<string>>;
  /** The body of the response with one of the facts, in JSON. */
  fact(fact: JobFact): Promise<JobResult<string>>;
  /** Ends the job at its client's request. */
  cancel(): Promise<JobResult<JobView>>;
  /** Gives the job's work another priority. */
  prioritize(priority: number): Promise<JobResult<JobView>>;
  /**
   * Restarts an ended job for what it did not finish; returns the version that the index must have. Without a trace it
   * stays in the one that it has.
   */
  retry(trace?: TraceContext | null): Promise<JobResult<{ view: JobView; version: number }>>;
  /** The log of the job's notifications. */
  notifications(): Promise<JobResult<DeliveryView[]>>;
  /** One notification, with the body that every attempt sends. */
  notification(id: string): Promise<JobResult<{ view: DeliveryView; body: string }>>;
  /** Sends one notification again. */
  replay(id: string): Promise<JobResult<DeliveryView>>;
  /** Seals the job's secrets with the newest key; false when they already were or the job is no longer kept. */
  reseal(): Promise<JobResult<boolean>>;
  /**
   * Checks the job, whatever became of its alarm. `rowVersion` is the version in the index: a row that is behind is
   * written again. Returns when to check again, in ms since 1970; null when nothing is kept of the job.
   */
  check(rowVersion: number): Promise<number | null>;
}

export type JobBinding = { JOB: DurableObjectNamespace<JobRpc> };

/**
 * The stub of a job's object. The result of `turn` is spelled out, because the types of RPC reject the unknown members
 * of ffprobe's data.
 */
export type JobStub = Pick<JobRpc, "turn"> & DurableObjectStub<JobRpc>;
export const jobOf = (env: JobBinding, id: string): JobStub => env.JOB.getByName(id);
