// Makes an outline of a source: reads only the bytes that an inspection needs.
import { type FileHandle, open } from "node:fs/promises";
import type { ByteRange } from "#shared/network/http-headers.ts";
import { mapLimitedOrAbort } from "../../async/in-parallel.ts";
import { type BoxHeader, boxesFrom, type ReadAt } from "../../mp4/boxes.ts";
import { diskFailure } from "../fetch/source-disk.ts";
import type { SourceFile } from "../fetch/source-file.ts";
import { firstSamples, mergedRanges } from "./mp4-outline.ts";

/** A file as long as the source. `source`: the version that was read. */
export type Outline = {
  readonly path: string;
  readonly source: { readonly sizeBytes: number; readonly validator: string | null };
  readonly readBytes: number;
};

/** Longest silence of the host before its first response. */
const STALL_MS = 10_000;
/** Reading an outline keeps its slot. 10 MB at 1 Mbit/s stay below this limit. */
const LIMIT_MS = 90_000;
/** Files have the header, the media and a few boxes more. */
const MAX_BOXES = 32;
/** The header of ten hours has about 20 MB. */
const MAX_HEADER_BOX_BYTES = 64 * 1024 * 1024;
/** Size of a read for the next box header. The first read from the start of the file has the first boxes. */
const START_BYTES = 64 * 1024;
/** Reading half of a file by ranges saves nothing. */
const WORTHWHILE_SHARE = 0.5;
/** Far above the size of usual outlines. A header may name samples anywhere in a file, with large gaps to be read. */
const MAX_READ_BYTES = 256 * 1024 * 1024;
/** Large ranges are read in parts, several at a time. */
const PART_BYTES = 2 * 1024 * 1024;
const PARALLEL = 6;

/**
 * Reads the outline of an MP4 file whose header is enough to list its packets, and whose host supports ranges. Null for
 * other sources, for sources larger than `maxBytes`, and when the outline would be half of the file or too large. Throws AppError as `SourceFile.load`
 * does. Throws other errors for an invalid header, and when it takes too long.
 */
export async function fetchOutline(
  source: SourceFile,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Outline | null> {
  const stopped = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]);
  const hasRanges = await source.askForRanges(AbortSignal.any([stopped, AbortSignal.timeout(STALL_MS)]));
  const { path, sizeBytes, validator } = source;
  if (!hasRanges || sizeBytes === null || sizeBytes > maxBytes) return null;
  const file = await open(path, "r").catch(diskFailure);
  try {
    const sparse = new SparseFile(file, source, stopped);
    const moov = await readHeader(sparse, sizeBytes);
    const media = moov && firstSamples(moov);
    const readBytes = bytesOf(media ?? []) + sparse.readBytes;
    if (!media || readBytes > Math.min(WORTHWHILE_SHARE * sizeBytes, MAX_READ_BYTES)) return null;
    await sparse.read(media.filter(({ start }) => start < sizeBytes).map(within(sizeBytes)));
    return { path, source: { sizeBytes, validator }, readBytes };
  } finally {
    await file.close();
  }
}

const bytesOf = (ranges: readonly ByteRange[]): number =>
  ranges.reduce((sum, { start, end }) => sum + end + 1 - start, 0);

const within =
  (sizeBytes: number) =>
  ({ start, end }: ByteRange): ByteRange => ({ start, end: Math.min(end, sizeBytes - 1) });

/** The ranges of a source that were read. */
class SparseFile {
  readonly #file: FileHandle;
  readonly #source: SourceFile;
  readonly #signal: AbortSignal;
  readBytes = 0;

  constructor(file: FileHandle, source: SourceFile, signal: AbortSignal) {
    this.#file = file;
    this.#source = source;
    this.#signal = signal;
  }

  async read(ranges: readonly ByteRange[]): Promise<void> {
    const parts = mergedRanges(ranges).flatMap(inParts);
    this.readBytes += bytesOf(parts);
    await mapLimitedOrAbort(parts, PARALLEL, this.#signal, (part, _at, signal) => this.#source.load(part, signal));
  }

  /** Bytes that were read before. */
  async bytes(start: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(length), 0, length, start);
    return buffer.subarray(0, bytesRead);
  }
}

const inParts = ({ start, end }: ByteRange): ByteRange[] =>
  Array.from({ length: Math.ceil((end + 1 - start) / PART_BYTES) }, (_, at) => ({
    start: start + at * PART_BYTES,
    end: Math.min(start + (at + 1) * PART_BYTES - 1, end),
  }));

/** Boxes whose content no program reads in order to list packets. */
const SKIPPED: ReadonlySet<string> = new Set(["mdat", "free", "skip", "wide"]);
/** The other boxes of a file with all packets in a single header. */
const READ: ReadonlySet<string> = new Set(["ftyp", "moov", "udta", "meta", "uuid", "pdin"]);

/** Reads all boxes but the media, and returns the body of `moov`. Null for files with other boxes. */
async function readHeader(sparse: SparseFile, sizeBytes: number): Promise<Buffer | null> {
  let moov: Buffer | null = null;
  let known = 0;
  let count = 0;
  let end = 0;
  const read: ReadAt = async (offset, bytes) => {
    if (offset + bytes > known) {
      known = Math.min(offset + START_BYTES, sizeBytes);
      await sparse.read([{ start: offset, end: known - 1 }]);
    }
    return sparse.bytes(offset, bytes);
  };
  for await (const box of boxesFrom(read, 0, sizeBytes)) {
    if (!isExpected(box, count++)) return null;
    end = box.offset + box.sizeBytes;
    if (!SKIPPED.has(box.type) && end > known) {
      if (sparse.readBytes + end - known > MAX_READ_BYTES) return null;
      await sparse.read([{ start: known, end: end - 1 }]);
      known = end;
    }
    if (box.type === "moov" && moov) return null;
    if (box.type === "moov") moov = await sparse.bytes(box.offset + box.headerBytes, box.sizeBytes - box.headerBytes);
  }
  return end === sizeBytes ? moov : null;
}

function isExpected({ type, sizeBytes }: BoxHeader, count: number): boolean {
  if (count >= MAX_BOXES || (count === 0 && type !== "ftyp")) return false;
  return SKIPPED.has(type) || (READ.has(type) && sizeBytes <= MAX_HEADER_BOX_BYTES);
}
