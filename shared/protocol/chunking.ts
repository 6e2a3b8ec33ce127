// What control plane and nodes say to each other of a film that is encoded in chunks (`settings.ultrafast`).
import * as z from "zod";
import { PackedCuts, unpackCuts } from "../media/frame-index.ts";
import { MAX_FILE_BYTES, MAX_FRAMES, MAX_LENGTH_MS, MAX_OUTPUT_INDEX } from "../report-limits.ts";
import { Line } from "./reported-text.ts";

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

const FileSize = z.int().min(1).max(MAX_FILE_BYTES);
/** Nodes store a source in pieces of 512 MiB: 5 TB in so many. */
const MAX_PIECES = 10_000;

/** Where the nodes of a job read its source by ranges. */
export const RangedSource = z.discriminatedUnion("from", [
  /** At the task's `sourceUrl`, whose host answers range requests. */
  z.object({
    from: z.literal("origin"),
    sizeBytes: FileSize,
    /** Strong ETag or date of the version that was inspected: no other is read (RFC 9110 §13.1.5). */
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

const TimeUs = z
  .int()
  .min(-1000 * MAX_LENGTH_MS)
  .max(1000 * MAX_LENGTH_MS);

/** The picture track of a film. Times in µs on the film's own line (see plan/chunk-film.ts). */
export const ChunkedFilm = z.object({
  /** All of them, and their coded size. */
  frames: z.int().min(1).max(MAX_FRAMES),
  bytes: z.int().min(0).max(MAX_FILE_BYTES),
  /** When the first frame is shown, and when the last one ends. */
  startUs: TimeUs,
  endUs: TimeUs,
  /** The longest distance of two keyframes, in ms. */
  longestGopMs: z.number().min(0).max(MAX_LENGTH_MS),
});
export type ChunkedFilm = z.infer<typeof ChunkedFilm>;

/** Whether a report can hold what is known of a video and its split points. */
export const isReportable = (film: ChunkedFilm & { readonly cuts: PackedCuts }): boolean =>
  ChunkedFilm.safeParse(film).success && PackedCuts.safeParse(film.cuts).success && areWithin(film);

/** Whether a video has a length, and its split points are within it and each is behind the one before. */
function areWithin({ cuts, ...film }: ChunkedFilm & { readonly cuts: PackedCuts }): boolean {
  const { frames, bytes, startUs, endUs } = film;
  let before = { index: 0, cutUs: startUs, frameUs: startUs, keyframe: 0, bytes: 0 };
  for (const cut of unpackCuts(cuts)) {
    const isBehind = cut.index > before.index && cut.cutUs > before.cutUs && cut.frameUs > before.frameUs;
    const isDecodable = cut.keyframe >= before.keyframe && cut.keyframe <= cut.index;
    if (!isBehind || !isDecodable || cut.bytes < before.bytes) return false;
    before = cut;
  }
  const isLong = endUs > startUs && endUs - startUs <= 1000 * MAX_LENGTH_MS;
  return isLong && before.index < frames && before.frameUs <= endUs && before.bytes <= bytes;
}

/** What an inspecting node found out about cutting the film. */
export const Chunking = z.discriminatedUnion("ok", [
  z
    .object({
      ok: z.literal(true),
      source: RangedSource,
      ...ChunkedFilm.shape,
      /** Where it may be cut, every two seconds. */
      cuts: PackedCuts,
    })
    .refine(areWithin, "the split points must be within the video, each behind the one before"),
  /** Why it cannot be cut, in one sentence. */
  z.object({ ok: z.literal(false), why: Line(300).min(1) }),
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
  output: z.int().min(0).max(MAX_OUTPUT_INDEX),
  /** Names the track within its output. */
  track: z.string().regex(/^[a-z0-9-]{1,60}$/),
  name: ScratchName,
  sizeBytes: FileSize,
  /** Pictures in it; null for sound. */
  frames: z.int().min(1).max(MAX_FRAMES).nullable(),
});
export type ScratchTrack = z.infer<typeof ScratchTrack>;

const Frames = z.int().min(0).max(MAX_FRAMES);

/** How the joined film compares with its plan. */
export const SeamReceipt = z.object({
  framesPlanned: Frames,
  framesJoined: Frames,
  /** The largest distance of a chunk's first frame from its planned time, in µs. */
  largestErrorUs: z
    .number()
    .min(0)
    .max(1000 * MAX_LENGTH_MS),
  /** How much longer the picture is than the sound, in ms; null without sound. */
  pictureOverSoundMs: z.number().min(-MAX_LENGTH_MS).max(MAX_LENGTH_MS).nullable(),
});
export type SeamReceipt = z.infer<typeof SeamReceipt>;
