// Reads the file of an encoded chunk: fragmented MP4 with one track, each fragment a `moof` and its `mdat`.
import type { FileHandle } from "node:fs/promises";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { bytesAt, wholeBoxAt } from "../../mp4/box-file.ts";
import { bodyAt, boxesIn } from "../../mp4/boxes.ts";
import { readFragment } from "../../mp4/fragments.ts";
import type { SampleDefaults } from "../../mp4/movie-header.ts";
import { openFile } from "../../run-files/open-file.ts";

export type ChunkHead = {
  /** The bytes of `ftyp` and `moov`. */
  readonly init: Buffer;
  /** Ticks per second. */
  readonly timescale: number;
  readonly defaults: SampleDefaults;
};

/** Times in ticks. */
export type ChunkFragment = {
  /** With its header. */
  readonly moof: Buffer;
  /** The place of the `mdat`, with its header. */
  readonly data: { readonly offset: number; readonly sizeBytes: number };
  readonly frames: number;
  readonly start: number;
  readonly end: number;
};

/** The frames of all fragments of a file. */
export type ChunkFacts = {
  readonly timescale: number;
  readonly frames: number;
  /** The start of the first frame, and the end of the last frame. */
  readonly start: number;
  readonly end: number;
};

/** Throws when the file is of another kind, or ends within a fragment. */
export async function readChunkHead(file: FileHandle): Promise<ChunkHead> {
  const { size } = await file.stat();
  for (let offset = 0; ; ) {
    const box = await wholeBoxAt(file, offset, size);
    offset += box.sizeBytes;
    if (box.type === "moov") return headOf(await bytesAt(file, 0, offset));
    if (box.type !== "ftyp") throw new Error(`unexpected box ${JSON.stringify(box.type)} before the track's header`);
  }
}

function headOf(init: Buffer): ChunkHead {
  const moov = bodyAt(init, "moov");
  const mdhd = bodyAt(moov, "trak/mdia/mdhd");
  const trex = bodyAt(moov, "mvex/trex");
  return {
    init,
    timescale: mdhd.readUInt32BE(mdhd.readUInt8(0) === 1 ? 20 : 12),
    defaults: { duration: trex.readUInt32BE(12), sizeBytes: trex.readUInt32BE(16), flags: trex.readUInt32BE(20) },
  };
}

/** The fragments in their order. Throws when a video fragment does not start with a keyframe. */
export async function* readChunkFragments(
  file: FileHandle,
  { init, defaults }: ChunkHead,
  kind: TrackKind,
): AsyncGenerator<ChunkFragment> {
  const { size } = await file.stat();
  let isOver = false;
  for (let offset = init.length; offset < size; ) {
    const box = await wholeBoxAt(file, offset, size);
    // At the end of the file: the index for seeking, and the data that this program appends (quality/chunk-quality.ts).
    if (box.type === "mfra" || box.type === "free") {
      isOver = true;
      offset += box.sizeBytes;
      continue;
    }
    if (isOver || box.type !== "moof")
      throw new Error(`unexpected box ${JSON.stringify(box.type)} instead of a fragment`);
    const data = await wholeBoxAt(file, offset + box.sizeBytes, size);
    if (data.type !== "mdat") throw new Error("a fragment has no samples");
    const moof = await bytesAt(file, offset, box.sizeBytes);
    const body = moof.subarray(box.headerBytes);
    const { start, end } = readFragment(body, defaults, kind);
    const place = { offset: offset + box.sizeBytes, sizeBytes: data.sizeBytes };
    yield { moof, data: place, frames: samplesIn(body), start, end };
    offset = place.offset + place.sizeBytes;
  }
}

const samplesIn = (moof: Buffer): number =>
  boxesIn(bodyAt(moof, "traf"))
    .filter(({ type }) => type === "trun")
    .reduce((sum, { body }) => sum + body.readUInt32BE(4), 0);

/** Reads a whole file. Throws when it is not the complete file of a chunk. */
export async function readChunkFacts(path: string, kind: TrackKind): Promise<ChunkFacts> {
  const file = await openFile(path);
  try {
    const head = await readChunkHead(file);
    let facts: ChunkFacts | null = null;
    for await (const fragment of readChunkFragments(file, head, kind)) facts = withFragment(facts, head, fragment);
    if (!facts) throw new Error("the track has no frames");
    return facts;
  } finally {
    await file.close();
  }
}

/** Adds a fragment to the facts of the fragments before it. */
export const withFragment = (
  facts: ChunkFacts | null,
  { timescale }: Pick<ChunkHead, "timescale">,
  { frames, start, end }: Pick<ChunkFragment, "frames" | "start" | "end">,
): ChunkFacts => ({
  timescale,
  frames: (facts?.frames ?? 0) + frames,
  start: Math.min(facts?.start ?? start, start),
  end: Math.max(facts?.end ?? end, end),
});

/** Returns the body of the last box if it has this type, else null. Throws for a truncated file. */
export async function lastBox(path: string, type: string): Promise<Buffer | null> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    for (let offset = 0; offset < size; ) {
      const box = await wholeBoxAt(file, offset, size);
      const end = offset + box.sizeBytes;
      if (box.type === type && end === size) {
        return await bytesAt(file, offset + box.headerBytes, box.sizeBytes - box.headerBytes);
      }
      offset = end;
    }
    return null;
  } finally {
    await file.close();
  }
}
