// The state of encoding in chunks. Chunks that no node has started are not stored: they follow from the split points,
// the finished chunks and the tasks.
import * as z from "zod";
import { PackedSplitPoints } from "#shared/media/frame-index.ts";
import { ChunkBoundaryCheck, ChunkedVideo } from "#shared/protocol/chunks.ts";
import { RangedSource, ScratchTrack } from "#shared/protocol/scratch.ts";
import { ChunkTarget } from "#shared/protocol/target.ts";

/** The plan of the chunks, with their common properties. It is large and seldom changes. */
export const ChunkWork = z.object({
  /** True if outputs are made of chunks now. False until a retried job has inspected its source again. */
  isActive: z.boolean(),
  /** Number of the scratch folder (see Scratch) that holds all objects. */
  folder: z.int(),
  /** Indices of the outputs that are made of chunks. */
  outputs: z.array(z.int()),
  /** Indices of the outputs that the task `audio` makes something for: audio, tags, thumbnails. */
  audioOutputs: z.array(z.int()),
  source: RangedSource,
  video: ChunkedVideo,
  /** The split points between the chunks. */
  splitPoints: PackedSplitPoints,
  /** The encoder of the first accepted chunk. All chunks must be made with it. */
  encoder: z.string().nullable(),
  /** The video tracks of the first accepted chunk. Each chunk must have them. */
  layout: z.array(ScratchTrack.pick({ output: true, track: true })),
  /** The audio of the whole source; null until it is encoded. */
  audio: z.array(ScratchTrack).nullable(),
  /** Indices of the outputs that show text of the source, and that text; null until it is read. */
  textOutputs: z.array(z.int()),
  texts: z.array(ScratchTrack).nullable(),
  /** Attempts of these tasks, and of join, that had no result. */
  retries: z.int(),
  /** True if chunks may be joined while others are encoded: no attempt at it has failed. */
  mayJoinEarly: z.boolean(),
  /** Set once the chunks are joined. */
  boundaries: ChunkBoundaryCheck.nullable(),
});
export type ChunkWork = z.infer<typeof ChunkWork>;

/** A finished chunk. It never changes, and has an entry of its own in the storage. */
export const ChunkResult = z.object({
  /** The lease that brought the chunk, to recognize a repeated report. */
  task: z.string(),
  speculativeOf: z.string().exactOptional(),
  attempt: z.int(),
  token: z.string(),
  nodeId: z.string(),
  /** Number of leases that the chunk took. */
  tries: z.int(),
  encodeMs: z.number(),
  /** Time from the start of its lease to its report. */
  tookMs: z.number(),
  /** Start of its lease, ms since 1970. */
  startedAt: z.number(),
  /**
   * Tracks in the order of the layout: the object's name below the attempt's folder, its size in bytes, its number of
   * frames; null for a track that was not needed.
   */
  tracks: z.array(z.tuple([z.string(), z.int(), z.int()]).nullable()),
  /** Searches for the rate factors of requested VMAFs; absent if none was requested. */
  targets: z.array(ChunkTarget).exactOptional(),
});
export type ChunkResult = z.infer<typeof ChunkResult>;

/** Finished chunks by their index. */
export const ChunkResults = z.record(z.string(), ChunkResult);
export type ChunkResults = z.infer<typeof ChunkResults>;

/** The job's objects in the scratch bucket. */
export const Scratch = z.object({
  /** The number of the folder that nodes may write to. */
  folder: z.int(),
  /** True if the folder may have objects. */
  isUsed: z.boolean(),
  /** Folders that are no longer needed and must be removed. */
  leftovers: z.array(z.int()),
});
export type Scratch = z.infer<typeof Scratch>;

export const NO_SCRATCH: Scratch = { folder: 0, isUsed: false, leftovers: [] };

/** Reason why outputs are not made of chunks although the client requested it; null if they are. */
export const UltrafastOutcome = z.object({ reason: z.string().nullable() });
export type UltrafastOutcome = z.infer<typeof UltrafastOutcome>;
