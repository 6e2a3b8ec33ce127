// The boxes of ISO base media files (ISO/IEC 14496-12 §4.2), in memory.

export type BoxHeader = { readonly type: string; readonly headerBytes: number; readonly sizeBytes: number };

/** Enough for the header of any box. */
export const MAX_HEADER_BYTES = 16;

/** The header at the beginning of some bytes; null when they are too few. Throws when no box can be like that. */
export function boxHeader(bytes: Buffer): BoxHeader | null {
  if (bytes.length < 8) return null;
  const short = bytes.readUInt32BE(0);
  const headerBytes = short === 1 ? 16 : 8;
  if (bytes.length < headerBytes) return null;
  const type = bytes.toString("latin1", 4, 8);
  const sizeBytes = short === 1 ? Number(bytes.readBigUInt64BE(8)) : short;
  // A size of 0, a box without end, is for files that are no longer followed.
  if (sizeBytes < headerBytes) throw new Error(`A box ${JSON.stringify(type)} of ${sizeBytes} bytes`);
  return { type, headerBytes, sizeBytes };
}

export type Box = { readonly type: string; readonly body: Buffer };

/** The boxes that follow each other in some bytes, and fill them. */
export function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at < bytes.length; ) {
    const header = boxHeader(bytes.subarray(at));
    if (!header || at + header.sizeBytes > bytes.length) throw new Error("A box that is longer than its parent");
    boxes.push({ type: header.type, body: bytes.subarray(at + header.headerBytes, at + header.sizeBytes) });
    at += header.sizeBytes;
  }
  return boxes;
}

/** The body of the box at a path such as `mdia/mdhd`, each of which must be there exactly once. */
export function bodyAt(bytes: Buffer, path: string): Buffer {
  return path.split("/").reduce((body, type) => {
    const [found, ...more] = boxesIn(body).filter((box) => box.type === type);
    if (!found || more.length > 0) throw new Error(`${found ? "More than one" : "No"} box ${type} of ${path}`);
    return found.body;
  }, bytes);
}
