// The calls of a job's object.
import type { DurableObject } from "cloudflare:workers";
import type { DeliveryView } from "#shared/api/job-responses.ts";
import type { ProbeView } from "#shared/api/probe-responses.ts";
import type { Failure } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import type { JobView } from "#shared/job/job-view.ts";
import type { TagChanges } from "#shared/job/tags.ts";
import type { TraceContext } from "#shared/network/trace-context.ts";
import type { CompleteReport, FailReport, OutputsReport } from "#shared/protocol/reports.ts";
import type { ChunksAnswer, ChunksRequest, ScratchAnswer, ScratchRequest } from "#shared/protocol/scratch.ts";
import type { UploadsAnswer, UploadsRequest } from "#shared/protocol/uploads.ts";
import type { Result } from "#shared/result.ts";
import type { UploadHolder } from "../storage/object-store.ts";
import type { NewJobSpec } from "./job-spec.ts";
import { inJurisdiction, type JurisdictionVariable } from "./jurisdiction.ts";
import type { Turn, TurnAnswer } from "./turn.ts";

/** Errors are returned, because RPC drops the class of a thrown error. */
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

/** Calls about leases, from the hub and from nodes. */
export interface LeaseRpc {
  /** Processes all messages of a hub for the job. Repeating a turn changes nothing more. */
  turn(turn: Turn): Promise<TurnAnswer>;
  /** Signs uploads for files of a lease's task. */
  uploads(lease: LeaseId, request: UploadsRequest): Promise<JobResult<UploadsAnswer>>;
  /** True if an upload with these signed URLs may still be stored in the service's own storage. */
  mayStore(holder: UploadHolder): Promise<boolean>;
  /** Signs requests on the job's scratch folder for a lease's task. */
  scratch(lease: LeaseId, request: ScratchRequest): Promise<JobResult<ScratchAnswer>>;
  /** The finished chunks, for the task that joins them while other chunks are still encoded. */
  chunks(lease: LeaseId, request: ChunksRequest): Promise<JobResult<ChunksAnswer>>;
  /**
   * Reports outputs that a lease's task has made or failed to make. The task continues. A repeated report changes
   * nothing.
   */
  outputs(lease: LeaseId, report: OutputsReport): Promise<JobResult<null>>;
  /** Completes a lease's task. A repeated report changes nothing. */
  complete(lease: LeaseId, report: CompleteReport): Promise<JobResult<null>>;
  /** Reports that a lease's task failed. */
  fail(lease: LeaseId, report: FailReport): Promise<JobResult<null>>;
}

/**
 * Facts about a job: its tasks and their attempts, the commands that ran, the commands that run now, the request as the
 * service understood it, and the job's place in the queue.
 */
export type JobFact = "tasks" | "commands" | "running" | "request" | "queue";

/** `fetch` opens a socket with the events of the job, until its end (worker/events). */
export interface JobRpc extends DurableObject<unknown>, LeaseRpc {
  /** Starts the job; a repeated call changes nothing. `isListened`: somebody listens to the account's events. */
  create(spec: NewJobSpec, isListened?: boolean): Promise<void>;
  /** The job as its client sees it; with `accountId` only a job of this account in its index, so no probe. */
  view(accountId?: string): Promise<JobResult<JobView>>;
  /**
   * The account's probe, as soon as it has ended, or after `waitMs` at the latest. Returns `probe_not_found` also for
   * jobs that are not probes.
   */
  probe(accountId: string, waitMs: number): Promise<JobResult<ProbeView>>;
  /**
   * The body of the metadata response, in JSON: all metadata known so far, or metadata of a single output or of the
   * input.
   */
  metadata(key: string | null): Promise<JobResult<string>>;
  /** The body of the response with a fact, in JSON. */
  fact(fact: JobFact): Promise<JobResult<string>>;
  /** Ends the job at its client's request. */
  cancel(): Promise<JobResult<JobView>>;
  /** Changes the priority of the job's work. */
  prioritize(priority: number): Promise<JobResult<JobView>>;
  /** Changes the job's tags. Returns the version that the index must have. */
  tag(changes: TagChanges): Promise<JobResult<{ view: JobView; version: number }>>;
  /**
   * Restarts an ended job for the outputs that it did not finish. Returns the version that the index must have. Without
   * a trace, the job keeps its trace.
   */
  retry(trace?: TraceContext | null): Promise<JobResult<{ view: JobView; version: number }>>;
  /** The log of the job's notifications. */
  notifications(): Promise<JobResult<DeliveryView[]>>;
  /** A notification, with the body that every attempt sends. */
  notification(id: string): Promise<JobResult<{ view: DeliveryView; body: string }>>;
  /** Sends a notification again. */
  replay(id: string): Promise<JobResult<DeliveryView>>;
  /**
   * Seals the job's secrets with the newest key. Returns false if they already were, or if the job is no longer kept.
   */
  reseal(): Promise<JobResult<boolean>>;
  /**
   * Checks the job, in case its alarm was lost. `rowVersion` is the version in the index: an outdated row is written
   * again. Returns the time of the next check, in ms since 1970; null when the object keeps nothing of the job.
   */
  check(rowVersion: number): Promise<number | null>;
}

export type JobBinding = { JOB: DurableObjectNamespace<JobRpc> } & JurisdictionVariable;

/**
 * The stub of a job's object. `turn` is typed without the RPC types, because those reject the unknown members of
 * ffprobe's data.
 */
export type JobStub = Pick<JobRpc, "turn"> & DurableObjectStub<JobRpc>;
export const jobOf = (env: JobBinding, id: string): JobStub => inJurisdiction(env.JOB, env).getByName(id);
