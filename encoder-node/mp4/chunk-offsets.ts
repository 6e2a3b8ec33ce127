// Moves the samples of an MP4 file: rewrites the chunk offsets in its index (`moov`).
import { type Box, boxesIn } from "./boxes.ts";

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
