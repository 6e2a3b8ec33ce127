// Reads the file of an encoded chunk: fragmented MP4 with one track, each fragment a `moof` and its `mdat`.
import type { FileHandle } from "node:fs/promises";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { allBoxes, readerOf } from "../../mp4/boxes.ts";
import { type FileFragment, type FileHead, followFragments } from "../../mp4/fragments.ts";
import { openFile } from "../../run-files/open-file.ts";

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
