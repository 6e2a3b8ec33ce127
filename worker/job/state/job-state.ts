// The state of one job, as its object stores it.
import * as z from "zod";
import { DroppedVideo } from "#shared/job/dropped-video.ts";
import { INPUT_STATUSES, JOB_STATUSES } from "#shared/job/job-status.ts";
import { OUTPUT_PHASES } from "#shared/job/output-status.ts";
import { MediaProbe } from "#shared/media/media-probe.ts";
import { LeaseIdText } from "#shared/protocol/leases.ts";
import { QualityReport } from "#shared/protocol/quality.ts";
import { ErrorCodeText } from "#shared/protocol/reported-text.ts";
import { StreamProbes } from "#shared/protocol/reports.ts";
import { TargetReports } from "#shared/protocol/target.ts";
import { SLOT_CLASSES } from "#shared/protocol/tasks.ts";
import { Delivery } from "../../notify/delivery.ts";
import { JobSpec } from "../../rpc/job-spec.ts";
import { AttemptLog, NO_ATTEMPTS } from "./attempt-log.ts";
import { ChunkResults, ChunkWork, NO_SCRATCH, Scratch, UltrafastOutcome } from "./chunk-state.ts";
import { CommandLog, NO_COMMANDS } from "./command-log.ts";
import { Emitted, NOTHING_EMITTED } from "./emitted.ts";
import { newTask, TaskState } from "./task-state.ts";
import { NOTHING_USED, Used } from "./used.ts";

/** Points in time: ms since 1970. */
const Time = z.number();

/** Unlike a report's failure it has no maximum length: what was once stored must always be readable. */
const StoredFailure = z.object({ code: ErrorCodeText, message: z.string() });

/** A multipart upload that was begun at the storage. */
export const MultipartUpload = z.object({ objectName: z.string(), uploadId: z.string() });
export type MultipartUpload = z.infer<typeof MultipartUpload>;

export const OutputState = z.object({
  phase: z.enum(OUTPUT_PHASES),
  failure: StoredFailure.nullable(),
  /**
   * In an image output, the number of frames taken from the source and of image files, once the source was inspected.
   */
  images: z.object({ frames: z.int(), files: z.int() }).nullable(),
  /** In order, from file number 1. Of a stream only its playlists, in the order of its URLs. */
  files: z.array(z.object({ sizeBytes: z.int() })),
  probe: MediaProbe.nullable(),
  /** Of a stream, instead of `probe`: what is in each of its packages. */
  packages: StreamProbes.exactOptional(),
  /** The encoder that made it, and a note about that, as the node reported them. */
  encoder: z.string().exactOptional(),
  note: z.string().exactOptional(),
  /** How good its video is; for jobs with `quality_report`. */
  quality: QualityReport.exactOptional(),
  /** How the rate factors for requested VMAFs were found; for outputs that were not made of chunks. */
  targets: TargetReports.exactOptional(),
  /** Of a stream: the videos that were left out. */
  dropped: z.array(DroppedVideo).exactOptional(),
});
export type OutputState = z.infer<typeof OutputState>;

export const JobState = z.object({
  spec: JobSpec,
  status: z.enum(JOB_STATUSES),
  completedAt: Time.nullable(),
  /** When it was created or restarted last; 0: at its creation. */
  startedAt: Time.default(0),
  /** When a node first took a task of it since then, and when a node last reported, or could again after an outage. */
  runningSince: Time.nullable().default(null),
  workedAt: Time.default(0),
  used: Used.default(NOTHING_USED),
  emitted: Emitted.default(NOTHING_EMITTED),
  /** How often the job was restarted. The tasks of each round have ids of their own. */
  round: z.int(),
  /** Counts the changes that the index must have, and the last one that it confirmed. */
  version: z.int(),
  indexedVersion: z.int(),
  /** True if the index shows the job as waiting for a node. */
  isIndexedQueued: z.boolean().default(true),
  /** The highest percentage that a client has seen: progress never decreases. */
  shownPercent: z.int(),
  input: z.object({ status: z.enum(INPUT_STATUSES), failure: StoredFailure.nullable(), probe: MediaProbe.nullable() }),
  outputs: z.array(OutputState),
  /** Of the tasks for chunks only those that nodes have started and not finished. */
  tasks: z.array(TaskState),
  chunks: ChunkWork.nullable(),
  chunkResults: ChunkResults,
  ultrafast: UltrafastOutcome.nullable(),
  scratch: Scratch,
  /** When each slot class was last advertised; null when the hub does not have the current demand. */
  advertisedAt: z.record(z.enum(SLOT_CLASSES), Time.nullable()),
  /** How often it was advertised since its tasks changed. */
  advertisements: z.record(z.enum(SLOT_CLASSES), z.int()).default({ inspect: 0, encode: 0 }),
  /**
   * By class: since when no task was claimed, and what no node has of what they require. Absent: none was advertised
   * since the last claim.
   */
  waiting: z.partialRecord(z.enum(SLOT_CLASSES), z.object({ since: Time, for: z.string().nullable() })).default({}),
  /** The node that has the source: its tasks are offered to it first. */
  sourceNode: z.string().nullable(),
  /** Leases that ended while their nodes worked on them: those nodes are still to be notified. */
  revoked: z.array(LeaseIdText),
  /** The hubs of those that are not of the first hub. */
  revokedOn: z.record(z.string(), z.string()).default({}),
  /** Multipart uploads that nobody will complete, to be aborted at the storage. */
  orphans: z.array(MultipartUpload),
  outbox: z.array(Delivery),
  /** Until when (ms since 1970) encoding waits for the storage check; null: the check is over, or not needed. */
  storageCheck: z.object({ until: Time }).nullable(),
  /** True if the job's objects in the service's own storage were removed. */
  storageCleared: z.boolean(),
  /** What its client sees of attempts that have ended, and of the commands that ran. */
  attempts: AttemptLog.default(NO_ATTEMPTS),
  commands: CommandLog.default(NO_COMMANDS),
  /** Effects that failed: how often, and when to try again. Keyed by the effect's name. */
  retries: z.record(z.string(), z.object({ attempts: z.int(), at: Time })),
});
export type JobState = z.infer<typeof JobState>;

/** The state of a new job: its first task inspects the source. */
export function newJob(spec: JobSpec, now: number = spec.createdAt): JobState {
  return {
    spec,
    status: "job.starting",
    completedAt: null,
    startedAt: now,
    runningSince: null,
    workedAt: 0,
    used: NOTHING_USED,
    emitted: NOTHING_EMITTED,
    round: 0,
    version: 1,
    indexedVersion: 1,
    isIndexedQueued: true,
    shownPercent: 0,
    input: { status: "input.starting", failure: null, probe: null },
    outputs: spec.outputs.map(() => ({ phase: "waiting", failure: null, images: null, files: [], probe: null })),
    tasks: [newTask({ kind: "inspect", round: 0, outputs: [] })],
    chunks: null,
    chunkResults: {},
    ultrafast: null,
    scratch: NO_SCRATCH,
    advertisedAt: { inspect: null, encode: null },
    advertisements: { inspect: 0, encode: 0 },
    waiting: {},
    sourceNode: null,
    revoked: [],
    revokedOn: {},
    orphans: [],
    outbox: [],
    storageCheck: newStorageCheck(spec, spec.createdAt),
    storageCleared: spec.isProbe === true,
    attempts: NO_ATTEMPTS,
    commands: NO_COMMANDS,
    retries: {},
  };
}

/** How long encoding waits for the storage check at most. */
const STORAGE_CHECK_MS = 20_000;

/** The check of a job's storage when the job starts; the service's own storage needs none. */
export const newStorageCheck = ({ storage }: JobSpec, now: number): JobState["storageCheck"] =>
  storage.kind === "builtin" ? null : { until: now + STORAGE_CHECK_MS };
