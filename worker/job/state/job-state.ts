// Everything that is true of one job, as it lies in the object's storage.

import * as z from "zod";
import type { JobId } from "#shared/ids.ts";
import { isJobId } from "#shared/ids.ts";
import { INPUT_STATUSES, JOB_STATUSES } from "#shared/job/job-status.ts";
import { NOTIFICATION_EVENTS } from "#shared/job/notification.ts";
import { OutputSpec } from "#shared/job/output-spec.ts";
import { OUTPUT_PHASES } from "#shared/job/output-status.ts";
import { MediaProbe } from "#shared/media/media-probe.ts";
import {
  ErrorCodeText,
  LeaseIdText,
  OutputReport,
  SLOT_CLASSES,
  StreamProbes,
  TASK_STAGES,
} from "#shared/protocol/protocol.ts";
import { InputSpec } from "#shared/request/input-section.ts";
import { SettingsSpec } from "#shared/request/job-request.ts";
import { NotificationSpec } from "#shared/request/notification-section.ts";
import { StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { ChunkResults, ChunkWork, NO_SCRATCH, Scratch, UltrafastOutcome } from "./chunk-state.ts";
import { TASK_PHASES } from "./task-table.ts";

/** Points in time: ms since 1970. */
const Time = z.number();

export const JobSpec = z.object({
  id: z.custom<JobId>((value) => typeof value === "string" && isJobId(value)),
  accountId: z.string(),
  createdAt: Time,
  input: InputSpec,
  storage: StorageSpec,
  outputs: z.array(OutputSpec),
  notification: NotificationSpec,
  settings: SettingsSpec,
  /** The storage's credentials and the account's webhook secret, sealed to this job. */
  sealedSecrets: z.string(),
});
export type JobSpec = z.infer<typeof JobSpec>;

/** Why something failed. Without the report's limit of length: what was once taken must always be readable again. */
const StoredFailure = z.object({ code: ErrorCodeText, message: z.string() });

/** A multipart upload that was begun at the storage. */
export const MultipartUpload = z.object({ objectName: z.string(), uploadId: z.string() });
export type MultipartUpload = z.infer<typeof MultipartUpload>;

/** One upload that a grant was given, keyed by `<output>/<file>`; the output's path says to which object. */
export const GrantedUpload = z.object({
  sizeBytes: z.int(),
  partCount: z.int(),
  /** Null for a single PUT. */
  uploadId: z.string().nullable(),
});
export type GrantedUpload = z.infer<typeof GrantedUpload>;

export const TaskState = z.object({
  id: z.string(),
  kind: z.enum(["inspect", "encode", "chunk", "sound", "join"]),
  /** Indices of the outputs that the task makes. */
  outputs: z.array(z.int()),
  phase: z.enum(TASK_PHASES),
  /** Counts the grants, from 1 with the first claim. */
  attempt: z.int(),
  /** The latest grant. It stays after the task ended, so that a repeated report is known as one. */
  grant: z
    .object({
      nodeId: z.string(),
      session: z.string(),
      token: z.string(),
      expiresAt: Time,
      since: Time.default(0),
    })
    .nullable(),
  stage: z.enum(TASK_STAGES).nullable(),
  fraction: z.number(),
  /** Grants that ended without a word from the node, and grants that ended in a failure of the work. */
  losses: z.int(),
  failures: z.int(),
  /** Nodes that failed or lost this task; others come first. */
  avoid: z.array(z.string()),
  notBefore: Time,
  /** When it gave way to others, at whose end of the turn it waits since then; 0: never. */
  turnAt: Time.default(0),
  uploads: z.record(z.string(), GrantedUpload),
  /**
   * What nodes reported and is not settled: outputs whose multipart uploads the storage still has to complete, which an
   * earlier attempt may have made, and failures that another attempt may save once this one has ended.
   */
  reports: z.array(OutputReport),
  /** Of a chunk its index, and whether a second task may still be begun for it (see twins.ts). */
  chunk: z.int().nullable().default(null),
  mayTwin: z.boolean().default(false),
});
export type TaskState = z.infer<typeof TaskState>;

export const OutputState = z.object({
  phase: z.enum(OUTPUT_PHASES),
  failure: StoredFailure.nullable(),
  /** In order: file number one is the first. Of a stream only its playlists, in the order of its urls. */
  files: z.array(z.object({ sizeBytes: z.int() })),
  probe: MediaProbe.nullable(),
  /** Of a stream, in place of `probe`: what is in each of its packages. */
  packages: StreamProbes.exactOptional(),
  /** What made it, and what is to be said of that, as the node reports it. */
  encoder: z.string().exactOptional(),
  note: z.string().exactOptional(),
});
export type OutputState = z.infer<typeof OutputState>;

export const Delivery = z.object({
  /** Stable over retries: the receiver's key against duplicates. */
  id: z.string(),
  event: z.enum(NOTIFICATION_EVENTS),
  /** Frozen when the event happened, so that every attempt sends the same bytes. */
  body: z.string(),
  createdAt: Time,
  attempts: z.int(),
  /** Those of them that came before the schedule was begun anew. */
  earlierAttempts: z.int().default(0),
  state: z.enum(["due", "delivered", "abandoned"]),
  /** When the next attempt is due. */
  nextAt: Time,
  lastResult: z.string().nullable(),
  replayedAt: Time.exactOptional(),
});
export type Delivery = z.infer<typeof Delivery>;

export const JobState = z.object({
  spec: JobSpec,
  status: z.enum(JOB_STATUSES),
  completedAt: Time.nullable(),
  /** How often the job was begun anew: the tasks of each round have names of their own. */
  round: z.int(),
  /** Counts the changes that the index must learn of, and the last one it confirmed. */
  version: z.int(),
  indexedVersion: z.int(),
  /** The highest percentage that a client has seen: progress never goes back. */
  shownPercent: z.int(),
  input: z.object({ status: z.enum(INPUT_STATUSES), failure: StoredFailure.nullable(), probe: MediaProbe.nullable() }),
  outputs: z.array(OutputState),
  /** Of the chunks of a film only those that nodes have begun and not finished. */
  tasks: z.array(TaskState),
  chunks: ChunkWork.nullable().default(null),
  chunkResults: ChunkResults.default({}),
  ultrafast: UltrafastOutcome.nullable().default(null),
  scratch: Scratch.default(NO_SCRATCH),
  /** When each slot class was last advertised; null when the hub does not know the present demand. */
  advertisedAt: z.record(z.enum(SLOT_CLASSES), Time.nullable()),
  /** The node that holds the source: its tasks go there first. */
  sourceNode: z.string().nullable(),
  /** Leases that ended while their nodes worked on them: those are to be told. */
  revoked: z.array(LeaseIdText),
  /** Multipart uploads of grants that came to nothing, to be aborted at the storage. */
  orphans: z.array(MultipartUpload),
  outbox: z.array(Delivery),
  /** Until when (ms since 1970) encoding waits for the trial of the storage; null: it is over, or not needed. */
  storageCheck: z.object({ until: Time }).nullable().default(null),
  /** Whether the job's objects in the service's own storage were removed. */
  storageCleared: z.boolean().default(false),
  /** Effects that failed: how often, and when to try again. Keyed by the effect's name. */
  retries: z.record(z.string(), z.object({ attempts: z.int(), at: Time })),
});
export type JobState = z.infer<typeof JobState>;

/** Grants of one task that may end without a word from the node, and that may end in a failure of the work. */
export const MAX_LOSSES = 5;
export const MAX_FAILURES = 2;
/** How long an ended job's storage (secrets, metadata, deliveries) is kept, unless RETENTION_DAYS says else. */
export const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;

/** The state of a job that was just asked for: its first task is to inspect the source. */
export function newJob(spec: JobSpec): JobState {
  return {
    spec,
    status: "job.starting",
    completedAt: null,
    round: 0,
    version: 1,
    indexedVersion: 1,
    shownPercent: 0,
    input: { status: "input.starting", failure: null, probe: null },
    outputs: spec.outputs.map(() => ({ phase: "waiting", failure: null, files: [], probe: null })),
    tasks: [newTask(0, "inspect", [])],
    chunks: null,
    chunkResults: {},
    ultrafast: null,
    scratch: NO_SCRATCH,
    advertisedAt: { inspect: null, encode: null },
    sourceNode: null,
    revoked: [],
    orphans: [],
    outbox: [],
    storageCheck: checkOf(spec, spec.createdAt),
    storageCleared: false,
    retries: {},
  };
}

/** How long encoding waits for the trial of the storage, at the most. */
const STORAGE_CHECK_MS = 20_000;

/** The trial of a job's storage when the job is begun; the service's own needs none. */
export const checkOf = ({ storage }: JobSpec, now: number): JobState["storageCheck"] =>
  storage.kind === "builtin" ? null : { until: now + STORAGE_CHECK_MS };

/** A task of a job's round; no lease of an earlier round can be taken for one of it. `name` is its kind unless given. */
export function newTask(
  round: number,
  kind: TaskState["kind"],
  outputs: readonly number[],
  name: string = kind,
): TaskState {
  return {
    id: round === 0 ? name : `${name}-${round}`,
    kind,
    outputs: [...outputs],
    phase: "pending",
    attempt: 0,
    grant: null,
    stage: null,
    fraction: 0,
    losses: 0,
    failures: 0,
    avoid: [],
    notBefore: 0,
    turnAt: 0,
    uploads: {},
    reports: [],
    chunk: null,
    mayTwin: false,
  };
}
