// The scratch bucket, through which the tasks of one job hand files to each other.
import * as z from "zod";
import { MAX_FILE_BYTES, MAX_FRAMES, MAX_OUTPUT_INDEX } from "../report-limits.ts";
import { LeaseProof } from "./leases.ts";
import { FailureReport, Line } from "./reported-text.ts";
import { UploadPart } from "./uploads.ts";

/** The name of an object, below the job's folder in the scratch bucket. */
export const ScratchName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]*(\/[a-z0-9][a-z0-9.-]*){0,3}$/, "not the name of a scratch object")
  .max(200);
export type ScratchName = z.infer<typeof ScratchName>;

/** The folder that one attempt of a task, and no other, may write to; ends in a slash. */
export const scratchFolder = (taskId: string, attempt: number): string => `${taskId}-${attempt}/`;

/** Maximum length of the validator (ETag or date) that identifies one version of a source. */
export const MAX_VALIDATOR_CHARS = 300;

const FileSize = z.int().min(1).max(MAX_FILE_BYTES);
/** Nodes store a copy of the source as objects of 512 MiB: this many hold 5 TB. */
const MAX_PIECES = 10_000;
/** More than a source of the longest duration has, at 24 s each. */
const MAX_CHUNKS = 1_000_000;

/** Where the nodes of a job read its source by ranges. */
export const RangedSource = z.discriminatedUnion("from", [
  /** At the task's `sourceUrl`, whose host supports range requests. */
  z.object({
    from: z.literal("origin"),
    sizeBytes: FileSize,
    /** Strong ETag or date of the version that was inspected: no other version is read (RFC 9110 §13.1.5). */
    validator: Line(MAX_VALIDATOR_CHARS).min(1).exactOptional(),
  }),
  /** In the scratch bucket, in objects that follow each other. */
  z.object({
    from: z.literal("scratch"),
    pieces: z
      .array(z.object({ name: ScratchName, sizeBytes: FileSize }))
      .min(1)
      .max(MAX_PIECES),
  }),
]);
export type RangedSource = z.infer<typeof RangedSource>;

/** One track of an output, or one chunk of that track, in the scratch bucket: fragmented MP4. */
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
 * Signed with the assignment of a task, so that most nodes need not request URLs: the objects that the task reads, and
 * names that its node may give to what it writes. Valid for 15 minutes; after that, and for more objects, a node
 * requests URLs.
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

/** Requests the tracks of the chunks that a `join` waits for: those from number `from` on that follow each other. */
export const ChunksRequest = z.object({ token: LeaseProof.shape.token, from: z.int().min(0).max(MAX_CHUNKS) });
export type ChunksRequest = z.infer<typeof ChunksRequest>;

/** In time order: none while the first of them is still encoded. */
export const ChunksAnswer = z.object({ chunks: z.array(z.array(ScratchTrack)) });
export type ChunksAnswer = z.infer<typeof ChunksAnswer>;

/** `puts` in the order of the request, one PUT each; `gets` likewise. Both are valid for 15 minutes. */
export const ScratchAnswer = z.union([
  z.object({ puts: z.array(UploadPart), gets: z.array(z.string()) }),
  z.object({ failure: FailureReport }),
]);
export type ScratchAnswer = z.infer<typeof ScratchAnswer>;
