// What control plane and nodes say to each other of a film that is encoded in chunks (`settings.ultrafast`).
import * as z from "zod";
import { PackedCuts } from "./frame-ledger.ts";

/** Films up to this length are encoded whole: dividing them costs more than it saves (contract). */
export const MIN_CHUNKED_MS = 60_000;

/** An object of the job's folder in the scratch bucket. */
export const ScratchName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]*(\/[a-z0-9][a-z0-9.-]*){0,3}$/, "no scratch name")
  .max(200);
export type ScratchName = z.infer<typeof ScratchName>;

/** The folder that one grant of a task, and no other, may write to; with its slash. */
export const scratchFolder = (taskId: string, attempt: number): string => `${taskId}-${attempt}/`;

/** How long the name of a version of a file may be. */
export const MAX_VALIDATOR_CHARS = 300;

/** Where the nodes of a job read its source by ranges. */
export const RangedSource = z.discriminatedUnion("from", [
  /** At the task's `sourceUrl`, whose host answers range requests. */
  z.object({
    from: z.literal("origin"),
    sizeBytes: z.int().min(1),
    /** Strong ETag or date of the version that was inspected: no other is read (RFC 9110 §13.1.5). */
    validator: z.string().min(1).max(MAX_VALIDATOR_CHARS).exactOptional(),
  }),
  /** In the scratch bucket, in objects that follow each other. */
  z.object({
    from: z.literal("scratch"),
    pieces: z.array(z.object({ name: ScratchName, sizeBytes: z.int().min(1) })).min(1),
  }),
]);
export type RangedSource = z.infer<typeof RangedSource>;

/** The picture track of a film. Times in µs on the film's own line (see plan/chunk-film.ts). */
export const ChunkedFilm = z.object({
  /** All of them, and their coded size. */
  frames: z.int().min(1),
  bytes: z.int(),
  /** When the first frame is shown, and when the last one ends. */
  startUs: z.int(),
  endUs: z.int(),
  /** The longest distance of two keyframes, in ms. */
  longestGopMs: z.number(),
});
export type ChunkedFilm = z.infer<typeof ChunkedFilm>;

/** What an inspecting node found out about cutting the film. */
export const Chunking = z.discriminatedUnion("ok", [
  z.object({
    ok: z.literal(true),
    source: RangedSource,
    ...ChunkedFilm.shape,
    /** Where it may be cut, every two seconds. */
    cuts: PackedCuts,
  }),
  /** Why it cannot be cut, in one sentence. */
  z.object({ ok: z.literal(false), why: z.string().min(1).max(300) }),
]);
export type Chunking = z.infer<typeof Chunking>;

/** A cut: the first frame behind it, and times in µs on the film's own line (see PossibleCut). */
export const ChunkCut = z.object({
  index: z.int(),
  cutUs: z.int(),
  frameUs: z.int(),
  keyframe: z.int(),
  bytes: z.int(),
});
export type ChunkCut = z.infer<typeof ChunkCut>;

/** A part of the film between two cuts. */
export const ChunkRange = z.object({
  /** From 0, in order of time. */
  index: z.int().min(0),
  /** Null: from the film's beginning. */
  from: ChunkCut.nullable(),
  /** Null: to its end. */
  to: ChunkCut.nullable(),
  /** Of the source. */
  frames: z.int().min(1),
});
export type ChunkRange = z.infer<typeof ChunkRange>;

/** A track of an output, or the part of one that a chunk is, in the scratch bucket: fragmented MP4. */
export const ScratchTrack = z.object({
  /** `OutputSpec.index`. */
  output: z.int().min(0),
  /** Names the track within its output. */
  track: z.string().regex(/^[a-z0-9-]{1,60}$/),
  name: ScratchName,
  sizeBytes: z.int().min(1),
  /** Pictures in it; null for sound. */
  frames: z.int().min(1).nullable(),
});
export type ScratchTrack = z.infer<typeof ScratchTrack>;

/** How the joined film compares with its plan. */
export const SeamReceipt = z.object({
  framesPlanned: z.int(),
  framesJoined: z.int(),
  /** The largest distance of a chunk's first frame from its planned time, in µs. */
  largestErrorUs: z.number(),
  /** How much longer the picture is than the sound, in ms; null without sound. */
  pictureOverSoundMs: z.number().nullable(),
});
export type SeamReceipt = z.infer<typeof SeamReceipt>;
