// Reads the file of an encoded chunk: fragmented MP4 with one track, each fragment a `moof` and its `mdat`.
import type { FileHandle } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { STREAM_START_SECONDS } from "#shared/plan/streams/planned-stream.ts";
import type { ChunkTrack } from "#shared/plan/tasks/plan-chunk.ts";
import { allBoxes, readerOf } from "../../mp4/boxes.ts";
import { type FileFragment, type FileHead, followFragments } from "../../mp4/fragments.ts";
import { openFile } from "../../run-files/open-file.ts";
import type { RunFiles } from "../../run-files/run-files.ts";
import type { EncodedTrack } from "../../workspace/scratch.ts";

/** The frames of all fragments of a file. Times in ticks. */
export type ChunkFacts = {
  readonly timescale: number;
  readonly frames: number;
  /** The start of the first frame, and the end of the last frame. */
  readonly start: number;
  readonly end: number;
};

export type ChunkFile = { readonly head: FileHead; readonly fragments: readonly FileFragment[] };

/**
 * Reads a whole file, with the fragments in their order. Throws when it is not the complete file of a chunk, and when a
 * video fragment does not start with a keyframe.
 */
export async function readChunkFile(file: FileHandle, kind: TrackKind): Promise<ChunkFile> {
  const follower = followFragments(file, kind);
  const fragments = await follower.readOn();
  const head = follower.head();
  if (!head || !follower.isWhole()) throw new Error("MP4 file is truncated: it ends within a box");
  if (fragments.length === 0) throw new Error("the track has no frames");
  return { head, fragments };
}

export const chunkFacts = ({ head, fragments }: ChunkFile): ChunkFacts => ({
  timescale: head.timescale,
  frames: fragments.reduce((sum, { frames }) => sum + frames, 0),
  start: fragments.reduce((earliest, { start }) => Math.min(earliest, start), Number.POSITIVE_INFINITY),
  end: fragments.reduce((latest, { end }) => Math.max(latest, end), Number.NEGATIVE_INFINITY),
});

/** Throws as `readChunkFile` does. */
export async function readChunkFacts(path: string, kind: TrackKind): Promise<ChunkFacts> {
  const file = await openFile(path);
  try {
    return chunkFacts(await readChunkFile(file, kind));
  } finally {
    await file.close();
  }
}

/** A chunk has two boxes for each fragment. */
const MAX_BOXES = 1_000_000;

/** Returns the body of the last box if it has this type, else null. Throws for a truncated file. */
export async function lastBox(path: string, type: string): Promise<Buffer | null> {
  const file = await openFile(path);
  try {
    const read = readerOf(file);
    const last = (await allBoxes(read, (await file.stat()).size, MAX_BOXES)).at(-1);
    return last?.type === type ? await read(last.offset + last.headerBytes, last.sizeBytes - last.headerBytes) : null;
  } finally {
    await file.close();
  }
}

// Checks that the tracks of a chunk are as planned: the number of frames, and the timestamp of the first frame.

/** The maximum difference from the timestamps of an encode in one run. */
const MAX_ERROR_US = 100;

/** Throws AppError `chunk_mismatch`. */
export async function checkChunkTracks(tracks: readonly ChunkTrack[], files: RunFiles): Promise<EncodedTrack[]> {
  const encoded: EncodedTrack[] = [];
  for (const { output, track, file, frames, firstUs } of tracks) {
    const path = files.pathOf(file);
    const facts = await readChunkFacts(path, "video").catch((error: unknown) => {
      throw new AppError("chunk_mismatch", `A chunk cannot be read: ${messageOf(error)}`, { cause: error });
    });
    if (frames !== null && facts.frames !== frames) {
      throw new AppError("chunk_mismatch", `A chunk has ${facts.frames} frames instead of ${frames}.`);
    }
    const errorUs = timestampErrorUs(facts, firstUs);
    if (errorUs > MAX_ERROR_US) {
      const message = `The first frame of a chunk is ${Math.round(errorUs)} µs from its planned timestamp.`;
      throw new AppError("chunk_mismatch", message);
    }
    encoded.push({ output, track, path, frames: facts.frames });
  }
  return encoded;
}

/**
 * The difference of the first frame's timestamp from the planned one in µs, beyond the rounding to the track's ticks.
 */
export function timestampErrorUs(
  { start, timescale }: Pick<ChunkFacts, "start" | "timescale">,
  firstUs: number,
): number {
  const ticks = (firstUs / 1e6 + STREAM_START_SECONDS) * timescale;
  const nearest = Math.min(Math.abs(start - Math.floor(ticks)), Math.abs(start - Math.ceil(ticks)));
  return (nearest / timescale) * 1e6;
}
