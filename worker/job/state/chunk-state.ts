// What a job keeps of a film that is encoded in chunks. Chunks that nobody has begun are not kept at all: they are what the
// cuts leave between what is done and what is worked on.
import * as z from "zod";
import { PackedCuts } from "#shared/media/frame-index.ts";
import { ChunkedFilm, RangedSource, ScratchTrack, SeamReceipt } from "#shared/protocol/chunking.ts";

/** The plan of the chunks, and what holds for all of them. It changes seldom, since it is large. */
export const ChunkWork = z.object({
  /** Whether the film is still made of chunks: not so before a retried job has inspected its source again. */
  isActive: z.boolean(),
  /** The scratch folder (see Scratch) that everything lies in. */
  folder: z.int(),
  /** Indices of the outputs that are made so. */
  outputs: z.array(z.int()),
  /** Those of them that the task `sound` makes something for: sound, tags, thumbnails. */
  sounding: z.array(z.int()),
  source: RangedSource,
  film: ChunkedFilm,
  /** Where the film is cut. */
  cuts: PackedCuts,
  /** What encodes all chunks: the first one that was accepted says it. */
  encoder: z.string().nullable(),
  /** The picture tracks that each chunk has, likewise. */
  layout: z.array(ScratchTrack.pick({ output: true, track: true })),
  /** The sound of the whole film; null until it is there. */
  sound: z.array(ScratchTrack).nullable(),
  /** Attempts that came to nothing, of chunks, sound and join. */
  retries: z.int(),
  /** Set once the film is joined. */
  seams: SeamReceipt.nullable(),
});
export type ChunkWork = z.infer<typeof ChunkWork>;

/** A finished chunk. It never changes, and has an entry of its own in the storage. */
export const ChunkResult = z.object({
  /** The grant that brought it, so that a repeated report is known as one. */
  task: z.string(),
  attempt: z.int(),
  token: z.string(),
  nodeId: z.string(),
  /** Grants that were given for it. */
  tries: z.int(),
  encodeMs: z.number(),
  /** From its grant to its report. */
  tookMs: z.number(),
  /**
   * By the place in the layout: the object's name below the grant's folder, its size in bytes, its frames; null for a track
   * that was not wanted.
   */
  tracks: z.array(z.tuple([z.string(), z.int(), z.int()]).nullable()),
});
export type ChunkResult = z.infer<typeof ChunkResult>;

/** Finished chunks by their index. */
export const ChunkResults = z.record(z.string(), ChunkResult);
export type ChunkResults = z.infer<typeof ChunkResults>;

/** What the job has in the scratch bucket. */
export const Scratch = z.object({
  /** The number of the folder that nodes may write to. */
  folder: z.int(),
  /** Whether there may be anything in it. */
  isUsed: z.boolean(),
  /** How long it is kept when the job has failed. */
  keepMs: z.number(),
  /** Folders that nobody needs any more, to be removed. */
  leftovers: z.array(z.int()),
});
export type Scratch = z.infer<typeof Scratch>;

export const NO_SCRATCH: Scratch = { folder: 0, isUsed: false, keepMs: 0, leftovers: [] };

/** What became of the wish for chunks: a reason in words, or null when the film is made of them. */
export const UltrafastOutcome = z.object({ reason: z.string().nullable() });
export type UltrafastOutcome = z.infer<typeof UltrafastOutcome>;
