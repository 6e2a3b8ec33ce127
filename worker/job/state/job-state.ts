// The state of a job, as its object stores it.
import * as z from "zod";
import { DroppedVideo } from "#shared/job/dropped-video.ts";
import { INPUT_STATUSES, JOB_STATUSES } from "#shared/job/job-status.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { OutputLoudness } from "#shared/job/loudness.ts";
import { OUTPUT_PHASES } from "#shared/job/output-status.ts";
import { QualityReport } from "#shared/job/quality.ts";
import { OutputSpeech } from "#shared/job/speech.ts";
import { MediaProbe } from "#shared/media/media-probe.ts";
import { LeaseIdText } from "#shared/protocol/leases.ts";
import { ErrorCodeText } from "#shared/protocol/reported-text.ts";
import { StreamProbes } from "#shared/protocol/reports.ts";
import { TargetReports } from "#shared/protocol/target.ts";
import { SLOT_CLASSES } from "#shared/protocol/tasks.ts";
import { Delivery } from "../../notify/delivery.ts";
import { JobSpec, type NewJobSpec, RequestBody } from "../../rpc/job-spec.ts";
import { AttemptLog, NO_ATTEMPTS } from "./attempt-log.ts";
import { ChunkResults, ChunkWork, NO_SCRATCH, Scratch, UltrafastOutcome } from "./chunk-state.ts";
import { CommandLog, NO_COMMANDS } from "./command-log.ts";
import { Emitted, NOTHING_EMITTED } from "./emitted.ts";
import { Pace } from "./pace.ts";
import { newTask, TaskState } from "./task-state.ts";
import { NOTHING_USED, Used } from "./used.ts";

/** Points in time: ms since 1970. */
const Time = z.number();

/** Unlike a report's failure it has no maximum length: a stored failure must always be readable. */
const StoredFailure = z.object({ code: ErrorCodeText, message: z.string() });

/** A multipart upload that was started at the storage. */
export const MultipartUpload = z.object({ objectName: z.string(), uploadId: z.string() });
export type MultipartUpload = z.infer<typeof MultipartUpload>;

export const OutputState = z.object({
  phase: z.enum(OUTPUT_PHASES),
  failure: StoredFailure.nullable(),
  /** In an image output, the number of frames taken from the source and of image files. Null before the inspection. */
  images: z.object({ frames: z.int(), files: z.int() }).nullable(),
  /** In order, from file number 1. A stream has only its playlists, in the order of its URLs. */
  files: z.array(z.object({ sizeBytes: z.int() })),
  probe: MediaProbe.nullable(),
  /** Content of each package of a stream, instead of `probe`. */
  packages: StreamProbes.exactOptional(),
  /** The encoder of the output, and a note about the encoder, as the node reported them. */
  encoder: z.string().exactOptional(),
  note: z.string().exactOptional(),
  /** Measured quality of its video, for jobs with `quality_report`. */
  quality: QualityReport.exactOptional(),
  /** Searches for the rate factors of requested VMAFs, for outputs that were not made of chunks. */
  targets: TargetReports.exactOptional(),
  /** Measured loudness and chosen gains, for outputs with the parameter `loudness`. */
  loudness: OutputLoudness.exactOptional(),
  /** The recognized speech in the text of the output. */
  speech: OutputSpeech.exactOptional(),
  /** Videos that were left out of a stream. */
  dropped: z.array(DroppedVideo).exactOptional(),
});
export type OutputState = z.infer<typeof OutputState>;

export const JobState = z.object({
  spec: JobSpec,
  requested: RequestBody,
  status: z.enum(JOB_STATUSES),
  completedAt: Time.nullable(),
  /** Time of the job's creation or last restart; 0: its creation. */
  startedAt: Time,
  /** `runningSince`: first claim of a task since then. `workedAt`: last report of a node, or the end of an outage. */
  runningSince: Time.nullable(),
  workedAt: Time,
  used: Used,
  emitted: Emitted,
  /** Number of restarts. The tasks of each round have ids of their own. */
  round: z.int(),
  /** `version` counts the changes that the index must have. `indexedVersion` is the last version that it confirmed. */
  version: z.int(),
  indexedVersion: z.int(),
  /** `isListened`: somebody listened to the account at the creation. `isIndexedQueued`: the index shows `queued`. */
  isListened: z.boolean(),
  isIndexedQueued: z.boolean(),
  /** The highest percentage that a client has seen: progress never decreases. */
  shownPercent: z.int(),
  /** Absent before the first output is encoded. */
  pace: Pace.exactOptional(),
  input: z.object({ status: z.enum(INPUT_STATUSES), failure: StoredFailure.nullable(), probe: MediaProbe.nullable() }),
  outputs: z.array(OutputState),
  /** Tasks for chunks are included only if a node has started and not finished them. */
  tasks: z.array(TaskState),
  chunks: ChunkWork.nullable(),
  chunkResults: ChunkResults,
  ultrafast: UltrafastOutcome.nullable(),
  scratch: Scratch,
  /** Time of the last advertisement of each slot class; null if the hub does not have the current demand. */
  advertisedAt: z.record(z.enum(SLOT_CLASSES), Time.nullable()),
  /** Number of advertisements of each slot class since its tasks changed. */
  advertisements: z.record(z.enum(SLOT_CLASSES), z.int()),
  /** Requirement of a class's tasks that no node meets. */
  waitingFor: z.partialRecord(z.enum(SLOT_CLASSES), z.string()),
  /** The node that has the source: its tasks are offered to it first. */
  sourceNode: z.string().nullable(),
  /** Leases that ended while their nodes worked on them: those nodes are still to be notified. */
  revoked: z.array(LeaseIdText),
  /** Multipart uploads that nobody will complete, to be aborted at the storage. */
  orphans: z.array(MultipartUpload),
  outbox: z.array(Delivery),
  /**
   * Time (ms since 1970) until which encoding waits for the storage check; null: the check is over, or not needed.
   * `hasMoved`: the region of the storage was corrected.
   */
  storageCheck: z.object({ until: Time, hasMoved: z.literal(true).exactOptional() }).nullable(),
  /** True if the job's objects in the service's own storage were removed. */
  storageCleared: z.boolean(),
  /** Logs for the client: attempts that have ended, and commands that ran. */
  attempts: AttemptLog,
  commands: CommandLog,
  /** Failed effects: number of attempts and time of the next attempt, by the effect's name. */
  retries: z.record(z.string(), z.object({ attempts: z.int(), at: Time })),
});
export type JobState = z.infer<typeof JobState>;

const NO_BODY: RequestBody = { body: {}, leftOut: [] };

/** The state of a new job: its first task inspects the source. */
export function newJob({ requested = NO_BODY, ...spec }: NewJobSpec, now: number = spec.createdAt): JobState {
  const startAt = spec.settings.startAtMs ?? 0;
  return {
    spec,
    requested,
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
    isListened: true,
    isIndexedQueued: true,
    shownPercent: 0,
    input: { status: "input.starting", failure: null, probe: null },
    outputs: spec.outputs.map(() => ({ phase: "waiting", failure: null, images: null, files: [], probe: null })),
    tasks: [{ ...newTask({ kind: "inspect", round: 0, outputs: [] }), notBefore: startAt }],
    chunks: null,
    chunkResults: {},
    ultrafast: null,
    scratch: NO_SCRATCH,
    advertisedAt: { inspect: null, encode: null },
    advertisements: { inspect: 0, encode: 0 },
    // The first advertisement, at that time, replaces it.
    waitingFor: startAt > now ? { inspect: contractDate(startAt) } : {},
    sourceNode: null,
    revoked: [],
    orphans: [],
    outbox: [],
    storageCheck: newStorageCheck(spec, spec.createdAt),
    storageCleared: spec.isProbe === true,
    attempts: NO_ATTEMPTS,
    commands: NO_COMMANDS,
    retries: {},
  };
}

/** Maximum time that encoding waits for the storage check. */
const STORAGE_CHECK_MS = 20_000;

/** The check of a job's storage when the job starts; the service's own storage needs none. */
export const newStorageCheck = ({ storage }: JobSpec, now: number): JobState["storageCheck"] =>
  storage.kind === "builtin" ? null : { until: now + STORAGE_CHECK_MS };
