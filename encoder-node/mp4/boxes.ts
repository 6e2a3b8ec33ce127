// The boxes of ISO base media files (ISO/IEC 14496-12 §4.2), in memory and in files.
import type { FileHandle } from "node:fs/promises";

export type BoxHeader = { readonly type: string; readonly headerBytes: number; readonly sizeBytes: number };

/** Enough for the header of any box. */
const MAX_HEADER_BYTES = 16;

/** Reads the box header at the start of some bytes. Null if there are too few bytes. Throws when it is invalid. */
export function boxHeader(bytes: Buffer): BoxHeader | null {
  if (bytes.length < 8) return null;
  const short = bytes.readUInt32BE(0);
  const headerBytes = short === 1 ? 16 : 8;
  if (bytes.length < headerBytes) return null;
  const type = bytes.toString("latin1", 4, 8);
  const sizeBytes = short === 1 ? Number(bytes.readBigUInt64BE(8)) : short;
  // A size of 0, for a box up to the end of the file, does not occur in a file that still grows.
  if (sizeBytes < headerBytes)
    throw new Error(`MP4 box ${JSON.stringify(type)} has an invalid size of ${sizeBytes} bytes`);
  return { type, headerBytes, sizeBytes };
}

export type Box = { readonly type: string; readonly body: Buffer };

/**
 * Far more than the boxes of any file. A hostile header of 64 MB can have millions of boxes, and each takes memory and
 * time.
 */
const MAX_BOXES = 4096;

/** Returns the boxes in some bytes, which they must fill completely. Throws when boxes are invalid or too many. */
export function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (boxes.length === MAX_BOXES) throw new Error(`MP4 box contains more than ${MAX_BOXES} boxes`);
    const header = boxHeader(bytes.subarray(at));
    if (!header || at + header.sizeBytes > bytes.length) throw new Error("MP4 box is longer than its parent");
    boxes.push({ type: header.type, body: bytes.subarray(at + header.headerBytes, at + header.sizeBytes) });
    at += header.sizeBytes;
  }
  return boxes;
}

/** The body of the box at a path such as `mdia/mdhd`. Each box of the path must exist exactly once. */
export function bodyAt(bytes: Buffer, path: string): Buffer {
  return path.split("/").reduce((body, type) => {
    const [child, ...more] = boxesIn(body).filter((box) => box.type === type);
    if (!child || more.length > 0) throw new Error(`MP4 has ${child ? "more than one" : "no"} box ${type} of ${path}`);
    return child.body;
  }, bytes);
}

/** Reads bytes at an offset. Throws when there are fewer bytes. */
export type ReadAt = (offset: number, sizeBytes: number) => Promise<Buffer>;

/** Boxes that are read completely have a few kilobytes. This limit is far above that size. */
const MAX_BODY_BYTES = 64 * 2 ** 20;

/** Reads from a file. Throws before it reads more than `maxBytes`. */
export const readerOf =
  (file: Pick<FileHandle, "read">, maxBytes = MAX_BODY_BYTES): ReadAt =>
  async (offset, sizeBytes) => {
    if (sizeBytes > maxBytes) throw new Error(`MP4 box of ${sizeBytes} bytes is too large`);
    const bytes = Buffer.alloc(Math.max(0, sizeBytes));
    for (let at = 0; at < sizeBytes; ) {
      const { bytesRead } = await file.read(bytes, at, sizeBytes - at, offset + at);
      if (bytesRead === 0) throw new Error("MP4 file is truncated: it ends within a box");
      at += bytesRead;
    }
    return bytes;
  };

export type PlacedBox = BoxHeader & { readonly offset: number };

/**
 * The boxes from an offset up to `end`. A last box that goes beyond `end` is left out, unless the file is `truncated`.
 * Throws when a header is invalid.
 */
export async function* boxesFrom(
  read: ReadAt,
  from: number,
  end: number,
  file: "whole" | "truncated" = "whole",
): AsyncGenerator<PlacedBox> {
  for (let offset = from; offset < end; ) {
    const header = boxHeader(await read(offset, Math.min(MAX_HEADER_BYTES, end - offset)));
    if (!header || (file === "whole" && offset + header.sizeBytes > end)) return;
    yield { ...header, offset };
    offset += header.sizeBytes;
  }
}

/** All boxes of a file, which has `sizeBytes`. Throws when it ends within a box, or has more than `most` boxes. */
export async function allBoxes(read: ReadAt, sizeBytes: number, most: number): Promise<PlacedBox[]> {
  const boxes: PlacedBox[] = [];
  let end = 0;
  for await (const box of boxesFrom(read, 0, sizeBytes)) {
    if (boxes.length === most) throw new Error(`MP4 file has more than ${most} boxes`);
    boxes.push(box);
    end = box.offset + box.sizeBytes;
  }
  if (end < sizeBytes) throw new Error("MP4 file is truncated: it ends within a box");
  return boxes;
}
