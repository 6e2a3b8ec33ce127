// Reads boxes of ISO base media files on the disk.
import type { FileHandle } from "node:fs/promises";
import { type BoxHeader, boxHeader, MAX_HEADER_BYTES } from "./boxes.ts";

type ByteReader = Pick<FileHandle, "read">;

/** Boxes that are read completely have a few kilobytes. This limit is far above that size. */
const MAX_BODY_BYTES = 64 * 2 ** 20;

/** The header of the box at a byte. Null when the box goes beyond `end`. Throws when the header is invalid. */
export async function boxAt(file: ByteReader, offset: number, end: number): Promise<BoxHeader | null> {
  const box = boxHeader(await bytesAt(file, offset, Math.min(MAX_HEADER_BYTES, end - offset)));
  return box && offset + box.sizeBytes <= end ? box : null;
}

/** Like `boxAt`, but throws when the box goes beyond `end`. */
export async function wholeBoxAt(file: ByteReader, offset: number, end: number): Promise<BoxHeader> {
  const box = await boxAt(file, offset, end);
  if (!box) throw new Error("MP4 file is truncated: it ends within a box");
  return box;
}

/** Reads bytes of a file. Throws when the file has fewer bytes, and before it reads more than `maxBytes`. */
export async function bytesAt(
  file: ByteReader,
  offset: number,
  sizeBytes: number,
  maxBytes = MAX_BODY_BYTES,
): Promise<Buffer> {
  if (sizeBytes > maxBytes) throw new Error(`MP4 box of ${sizeBytes} bytes is too large`);
  const bytes = Buffer.alloc(Math.max(0, sizeBytes));
  for (let at = 0; at < sizeBytes; ) {
    const { bytesRead } = await file.read(bytes, at, sizeBytes - at, offset + at);
    if (bytesRead === 0) throw new Error("MP4 file is truncated: it ends within a box");
    at += bytesRead;
  }
  return bytes;
}
