// A task of a job, as the job's object stores it.
import * as z from "zod";
import { LiveStream, ProgressItem, TASK_STAGES } from "#shared/protocol/frames.ts";
import { OutputReport } from "#shared/protocol/reports.ts";
import { TASK_KINDS } from "#shared/protocol/tasks.ts";
import type { FileName } from "#shared/protocol/uploads.ts";
import { TASK_PHASES } from "./task-table.ts";

/** Points in time: ms since 1970. */
const Time = z.number();

/** An upload that was signed for a lease, keyed by `uploadKey`. */
export const SignedUpload = z.object({
  /** Index of the output that the file belongs to. */
  output: z.int(),
  objectName: z.string(),
  sizeBytes: z.int(),
  partCount: z.int(),
  /** Id of the multipart upload; null when a single request stores the file. */
  uploadId: z.string().nullable(),
  /**
   * Size of all parts but the last, for an upload that started before its file was complete. Until the size of the file
   * is known, `sizeBytes` and `partCount` are 0.
   */
  partBytes: z.int().exactOptional(),
});
export type SignedUpload = z.infer<typeof SignedUpload>;

/** A file of an output of a job. */
export type NamedFile = { output: number; file: FileName };

/** Names a file within a lease: the key of its upload. */
export const uploadKey = ({ output, file }: NamedFile): string => `${output}/${file}`;

const LeaseState = z.object({
  nodeId: z.string(),
  session: z.string(),
  token: z.string(),
  expiresAt: Time,
  since: Time,
  /**
   * Time at which the job asks the hub whether the node has the lease, because its assign frame may have been lost.
   * Null after a report of the node. A report is not stored for this: after an eviction the object asks once more.
   */
  confirmBy: Time.nullable(),
  /** True if the node's connection was lost, and the node has not reported since. */
  isSuspected: z.boolean(),
  /** The claim that created it (ClaimRequest.requestId). */
  requestId: z.string().exactOptional(),
  /** End of the node's wait for chunks; null: the node still waits; absent: it never waited. */
  waitedUntil: Time.nullable().exactOptional(),
});
export type LeaseState = z.infer<typeof LeaseState>;

export const TaskState = z.object({
  id: z.string(),
  kind: z.enum(TASK_KINDS),
  /** Indices of the outputs that the task makes. */
  outputs: z.array(z.int()),
  phase: z.enum(TASK_PHASES),
  /** Counts the leases: 1 with the first claim. */
  attempt: z.int(),
  /** The latest lease. It is kept after the task has ended, to recognize repeated reports. */
  lease: LeaseState.nullable(),
  stage: z.enum(TASK_STAGES).nullable(),
  fraction: z.number(),
  /** Encoding speed that the node reported last; null: not known. */
  rate: ProgressItem.pick({ fps: true, speed: true }).nullable(),
  /** The streams that can be played while this attempt encodes them. */
  live: z.array(LiveStream),
  /** Leases that ended without a report from the node, and leases that ended with a failure of the work. */
  losses: z.int(),
  failures: z.int(),
  /** Nodes that failed or lost this task; other nodes are preferred. */
  avoid: z.array(z.string()),
  /** Nodes of `avoid` that failed by their own fault. */
  blamed: z.array(z.string()),
  notBefore: Time,
  /** Nodes have had no room for the task since then, and the message of the last node; null: none has reported this. */
  refused: z.object({ since: Time, reason: z.string() }).nullable(),
  uploads: z.record(z.string(), SignedUpload),
  /**
   * Reports that are not settled: outputs whose multipart uploads the storage still has to complete, perhaps made by an
   * earlier attempt, and failures that another attempt may avoid after the end of this attempt.
   */
  reports: z.array(OutputReport),
  /**
   * Index of the chunk that the task encodes, and whether a speculative attempt may still start
   * (speculative-attempts.ts).
   */
  chunk: z.int().nullable(),
  maySpeculate: z.boolean(),
  /** Only of a speculative attempt: the id of the other task for the chunk. */
  speculativeOf: z.string().exactOptional(),
});
export type TaskState = z.infer<typeof TaskState>;

/**
 * Maximum number of leases of a task that end without a report from the node, and that end with a failure of the work.
 */
export const MAX_LOSSES = 5;
export const MAX_FAILURES = 2;

type NewTask = Pick<TaskState, "kind"> & {
  /** The job's round: leases of an earlier round are not valid for tasks of this round. */
  readonly round: number;
  readonly outputs: readonly number[];
  readonly chunk?: number | null;
  /** Sets a task apart from another task of the same kind and chunk. */
  readonly variant?: "whole" | "speculative" | "early";
  readonly maySpeculate?: boolean;
  readonly speculativeOf?: string;
  readonly avoid?: readonly string[];
};

/** A task that waits for a node. */
export function newTask({
  kind,
  round,
  outputs,
  chunk = null,
  speculativeOf,
  variant = speculativeOf === undefined ? undefined : "speculative",
  maySpeculate = false,
  avoid = [],
}: NewTask): TaskState {
  // Ids are only compared: no code reads them.
  const id = [kind, chunk, round === 0 ? null : `r${round}`, variant].filter((part) => part != null).join("-");
  return {
    id,
    kind,
    outputs: [...outputs],
    phase: "pending",
    attempt: 0,
    lease: null,
    stage: null,
    fraction: 0,
    rate: null,
    live: [],
    losses: 0,
    failures: 0,
    avoid: [...avoid],
    blamed: [],
    notBefore: 0,
    refused: null,
    uploads: {},
    reports: [],
    chunk,
    maySpeculate,
    ...(speculativeOf && { speculativeOf }),
  };
}
