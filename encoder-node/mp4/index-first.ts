// Reads an MP4 file whose index (`moov`) is at its end, as ffmpeg writes it, as if the index came first. Players need
// the index first. Nothing is written.
import type { FileHandle } from "node:fs/promises";
import { openFile } from "../run-files/open-file.ts";
import { bytesAt, wholeBoxAt } from "./box-file.ts";
import type { BoxHeader } from "./boxes.ts";
import { boxOf, movedIndex } from "./chunk-offsets.ts";

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
/** `ftyp` has some 32 bytes. */
const MAX_TYPE_BYTES = 4096;
/** The header of a box: the smallest possible free space. */
const LEAST_FREE_BYTES = 8;

type PlacedBox = BoxHeader & { readonly at: number };

/**
 * Describes a finished file. `reservedBytes` are the bytes between the file type and the samples. Reserved bytes that
 * the index does not need become a free box (ISO/IEC 14496-12 §8.1.2). `shift` is larger than `reservedBytes` if the
 * index needs more, or leaves less than the header of a box. Throws when the file is not as ffmpeg writes it.
 */
export async function readIndexFirst(path: string, reservedBytes: number): Promise<IndexFirst> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const boxes = await boxesOf(file, size);
    const [type, index] = [boxes[0], boxes.at(-1)];
    const isExpected = type?.type === "ftyp" && index?.type === "moov" && boxes.some((box) => box.type === "mdat");
    if (!isExpected || type.sizeBytes > MAX_TYPE_BYTES || index.sizeBytes > MAX_INDEX_BYTES) {
      throw new Error("MP4 file does not have its index at its end");
    }
    const [start, moov] = await Promise.all([
      bytesAt(file, type.at, type.sizeBytes),
      bytesAt(file, index.at, index.sizeBytes, MAX_INDEX_BYTES),
    ]);
    // A larger index never has a smaller shift (`movedIndex`), so a free box exists wherever bytes are reserved.
    const shiftFor = (sizeBytes: number): number =>
      reservedBytes === 0 ? sizeBytes : Math.max(reservedBytes, sizeBytes + LEAST_FREE_BYTES);
    const moved = movedIndex(moov, shiftFor);
    const shift = shiftFor(moved.length);
    const free = shift - moved.length;
    const padding = free === 0 ? [] : [boxOf("free", Buffer.alloc(free - LEAST_FREE_BYTES))];
    return { head: Buffer.concat([start, moved, ...padding]), from: start.length, to: index.at, shift };
  } finally {
    await file.close();
  }
}

/** A file that was encoded in a single run has five boxes. */
const MAX_BOXES = 16;

async function boxesOf(file: FileHandle, sizeBytes: number): Promise<PlacedBox[]> {
  const boxes: PlacedBox[] = [];
  let at = 0;
  while (at < sizeBytes) {
    const header = await wholeBoxAt(file, at, sizeBytes);
    boxes.push({ ...header, at });
    if (boxes.length > MAX_BOXES) throw new Error(`MP4 file has more than ${MAX_BOXES} boxes`);
    at += header.sizeBytes;
  }
  return boxes;
}
