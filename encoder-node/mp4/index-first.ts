// Reads an MP4 file whose index (`moov`) is at its end, as ffmpeg writes it, as if the index came first. Players need
// the index first. Nothing is written.
import { openFile } from "../run-files/open-file.ts";
import { allBoxes, type Box, boxesIn, readerOf } from "./boxes.ts";

/** The file with the index first: `head`, then the bytes `from` to `to` of the file on the disk. */
export type IndexFirst = {
  readonly head: Buffer;
  readonly from: number;
  readonly to: number;
  /** Number of bytes by which the samples are later than on the disk. */
  readonly shift: number;
};

/** Twice the maximum that plans expect (growing-file.ts). The index is read into memory. */
const MAX_INDEX_BYTES = 128 * 2 ** 20;
/** A file that was encoded in a single run has five boxes. */
const MAX_BOXES = 16;
/** `ftyp` has some 32 bytes. */
const MAX_TYPE_BYTES = 4096;
/** The header of a box: the smallest possible free space. */
const LEAST_FREE_BYTES = 8;

/**
 * Describes a finished file. `reservedBytes` are the bytes between the file type and the samples. Reserved bytes that
 * the index does not need become a free box (ISO/IEC 14496-12 §8.1.2). `shift` is larger than `reservedBytes` if the
 * index needs more, or leaves less than the header of a box. Throws when the file is not as ffmpeg writes it.
 */
export async function readIndexFirst(path: string, reservedBytes: number): Promise<IndexFirst> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const read = readerOf(file, MAX_INDEX_BYTES);
    const boxes = await allBoxes(read, size, MAX_BOXES);
    const [type, index] = [boxes[0], boxes.at(-1)];
    const isExpected = type?.type === "ftyp" && index?.type === "moov" && boxes.some((box) => box.type === "mdat");
    if (!isExpected || type.sizeBytes > MAX_TYPE_BYTES || index.sizeBytes > MAX_INDEX_BYTES) {
      throw new Error("MP4 file does not have its index at its end");
    }
    const [start, moov] = await Promise.all([read(0, type.sizeBytes), read(index.offset, index.sizeBytes)]);
    // A larger index never has a smaller shift (`movedIndex`), so a free box exists wherever bytes are reserved.
    const shiftFor = (sizeBytes: number): number =>
      reservedBytes === 0 ? sizeBytes : Math.max(reservedBytes, sizeBytes + LEAST_FREE_BYTES);
    const moved = movedIndex(moov, shiftFor);
    const shift = shiftFor(moved.length);
    const free = shift - moved.length;
    const padding = free === 0 ? [] : [boxOf("free", Buffer.alloc(free - LEAST_FREE_BYTES))];
    return { head: Buffer.concat([start, moved, ...padding]), from: start.length, to: index.offset, shift };
  } finally {
    await file.close();
  }
}

/** The boxes on the way to the tables of chunk offsets (ISO/IEC 14496-12 §8.7.5). */
const PARENTS: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "minf", "stbl"]);
/** Version, flags, and the number of entries. */
const TABLE_HEADER_BYTES = 8;
const MAX_SHORT_OFFSET = 2 ** 32 - 1;

/**
 * Returns a `moov` box whose samples are `shift(size of the new box)` bytes later. A table of 32-bit offsets that no
 * longer fits becomes a table of 64-bit offsets, which makes the box larger. `shift` must not decrease when the box
 * grows. Throws when the box is invalid.
 */
export function movedIndex(moov: Buffer, shift: (sizeBytes: number) => number): Buffer {
  let moved = moov;
  for (;;) {
    const next = rewritten(moov, shift(moved.length));
    if (next.length === moved.length) return next;
    moved = next;
  }
}

/** Returns a box with its children, with all samples `shift` bytes later. */
function rewritten(moov: Buffer, shift: number): Buffer {
  const [box, ...others] = boxesIn(moov);
  if (box?.type !== "moov" || others.length > 0) throw new Error("MP4 index is not one box moov");
  return boxOf("moov", bodyOf(box, shift));
}

function bodyOf({ body }: Box, shift: number): Buffer {
  return Buffer.concat(
    boxesIn(body).map((box) => {
      if (PARENTS.has(box.type)) return boxOf(box.type, bodyOf(box, shift));
      if (box.type === "stco" || box.type === "co64") return movedTable(box, shift);
      return boxOf(box.type, box.body);
    }),
  );
}

function movedTable({ type, body }: Box, shift: number): Buffer {
  const count = body.readUInt32BE(4);
  const entryBytes = type === "stco" ? 4 : 8;
  if (body.length < TABLE_HEADER_BYTES + count * entryBytes) throw new Error(`MP4 box ${type} is too short`);
  const offsets = new Array<number>(count);
  let highest = 0;
  for (let at = 0; at < count; at++) {
    const place = TABLE_HEADER_BYTES + at * entryBytes;
    const offset = shift + (entryBytes === 4 ? body.readUInt32BE(place) : Number(body.readBigUInt64BE(place)));
    if (!Number.isSafeInteger(offset)) throw new Error(`MP4 box ${type} has an invalid offset`);
    offsets[at] = offset;
    highest = Math.max(highest, offset);
  }
  return type === "co64" || highest > MAX_SHORT_OFFSET ? longTable(body, offsets) : shortTable(body, offsets);
}

function shortTable(body: Buffer, offsets: readonly number[]): Buffer {
  const table = Buffer.alloc(TABLE_HEADER_BYTES + offsets.length * 4);
  body.copy(table, 0, 0, TABLE_HEADER_BYTES);
  for (const [at, offset] of offsets.entries()) table.writeUInt32BE(offset, TABLE_HEADER_BYTES + at * 4);
  return boxOf("stco", table);
}

function longTable(body: Buffer, offsets: readonly number[]): Buffer {
  const table = Buffer.alloc(TABLE_HEADER_BYTES + offsets.length * 8);
  body.copy(table, 0, 0, TABLE_HEADER_BYTES);
  for (const [at, offset] of offsets.entries()) table.writeBigUInt64BE(BigInt(offset), TABLE_HEADER_BYTES + at * 8);
  return boxOf("co64", table);
}

/** A box of less than 4 GiB. */
export function boxOf(type: string, body: Buffer): Buffer {
  const box = Buffer.alloc(8 + body.length);
  box.writeUInt32BE(box.length, 0);
  box.write(type, 4, "latin1");
  body.copy(box, 8);
  return box;
}
