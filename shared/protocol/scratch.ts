// Scratch bucket: tasks of a job exchange files through it.
import * as z from "zod";
import { MAX_FILE_BYTES, MAX_FRAMES, MAX_OUTPUT_INDEX } from "../report-limits.ts";
import { LeaseProof } from "./leases.ts";
import { FailureReport, Line } from "./reported-text.ts";
import { UploadPart } from "./uploads.ts";

/** Name of an object below the job's folder in the scratch bucket. */
export const ScratchName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]*(\/[a-z0-9][a-z0-9.-]*){0,3}$/, "not the name of a scratch object")
  .max(200);
export type ScratchName = z.infer<typeof ScratchName>;

/** Returns the folder, with a trailing slash, that only this attempt of a task may write to. */
export const scratchFolder = (taskId: string, attempt: number): string => `${taskId}-${attempt}/`;

/** Maximum length of the validator (ETag or date) that identifies a version of a source. */
export const MAX_VALIDATOR_CHARS = 300;

const FileSize = z.int().min(1).max(MAX_FILE_BYTES);
/** Maximum number of objects for a copy of the source. Each has 512 MiB, so that this many hold 5 TB. */
const MAX_PIECES = 10_000;
/** Limit above the number of chunks of the longest source, at 24 s each. */
const MAX_CHUNKS = 1_000_000;

/** Location from which the nodes of a job read its source by ranges. */
export const RangedSource = z.discriminatedUnion("from", [
  /** At the task's `sourceUrl`, whose host supports range requests. */
  z.object({
    from: z.literal("origin"),
    sizeBytes: FileSize,
    /** Strong ETag or date of the inspected version. No other version is read (RFC 9110 §13.1.5). */
    validator: Line(MAX_VALIDATOR_CHARS).min(1).exactOptional(),
  }),
  /** In the scratch bucket, in consecutive objects. */
  z.object({
    from: z.literal("scratch"),
    pieces: z
      .array(z.object({ name: ScratchName, sizeBytes: FileSize }))
      .min(1)
      .max(MAX_PIECES),
  }),
]);
export type RangedSource = z.infer<typeof RangedSource>;

/** A track of an output, or a chunk of that track, in the scratch bucket: fragmented MP4. */
export const ScratchTrack = z.object({
  /** `OutputSpec.index`. */
  output: z.int().min(0).max(MAX_OUTPUT_INDEX),
  /** Names the track within its output. */
  track: z.string().regex(/^[a-z0-9-]{1,60}$/),
  name: ScratchName,
  sizeBytes: FileSize,
  /** Number of frames; null for audio. */
  frames: z.int().min(1).max(MAX_FRAMES).nullable(),
});
export type ScratchTrack = z.infer<typeof ScratchTrack>;

/**
 * URLs signed with the assignment of a task, so that most nodes need not request URLs. They are for objects that the
 * task reads, and for object names that its node may write. Valid for 15 minutes. After that, and for more objects, a
 * node requests URLs.
 */
export const SignedScratch = z.object({
  puts: z.array(z.object({ name: ScratchName, url: z.string() })),
  gets: z.array(z.object({ name: ScratchName, url: z.string() })),
});
export type SignedScratch = z.infer<typeof SignedScratch>;

/** Requests signed URLs for objects in the job's folder of the scratch bucket: `puts` to write, `gets` to read. */
export const ScratchRequest = z.object({
  token: LeaseProof.shape.token,
  puts: z.array(z.object({ name: ScratchName, sizeBytes: FileSize })).max(200),
  gets: z.array(ScratchName).max(200),
});
export type ScratchRequest = z.infer<typeof ScratchRequest>;

/** Requests the tracks of the chunks that a `join` waits for: consecutive chunks from number `from` on. */
export const ChunksRequest = z.object({ token: LeaseProof.shape.token, from: z.int().min(0).max(MAX_CHUNKS) });
export type ChunksRequest = z.infer<typeof ChunksRequest>;

/** Tracks in time order. Empty while the first requested chunk is still encoded. */
export const ChunksAnswer = z.object({ chunks: z.array(z.array(ScratchTrack)) });
export type ChunksAnswer = z.infer<typeof ChunksAnswer>;

/**
 * `puts`: a PUT for each requested object, in the order of the request. `gets`: likewise. Both are valid for 15
 * minutes.
 */
export const ScratchAnswer = z.union([
  z.object({ puts: z.array(UploadPart), gets: z.array(z.string()) }),
  z.object({ failure: FailureReport }),
]);
export type ScratchAnswer = z.infer<typeof ScratchAnswer>;
