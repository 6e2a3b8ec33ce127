// Files that no encoder writes, byte by byte: boxes of ISO media, elements of Matroska, chunks of RIFF and PNG.
import { crc32, deflateSync } from "node:zlib";

export const u8 = (...values: number[]): Buffer => Buffer.from(values);
export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * at);
  return bytes;
}
export function le32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, 4 * at);
  return bytes;
}
const text = (value: string): Buffer => Buffer.from(value, "latin1");
type Part = Buffer | string;
export const join = (...parts: readonly Part[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? text(part) : part)));

/** ISO/IEC 14496-12 §4.2. */
export function box(type: string, ...parts: readonly Part[]): Buffer {
  const body = join(...parts);
  return join(u32(body.length + 8), type, body);
}
/** A box with version and flags. */
export const fullBox = (type: string, ...parts: readonly Part[]): Buffer => box(type, u32(0), ...parts);

/** RFC 8794: an EBML id as it is written, a size of eight bytes, and the body. */
export function element(id: number, ...parts: readonly Part[]): Buffer {
  const body = join(...parts);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(body.length) | (1n << 56n));
  const name = u32(id);
  return join(name.subarray(name.findIndex((byte) => byte !== 0)), size, body);
}
export function number(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return element(id, bytes);
}

/** A RIFF chunk, padded to an even length. */
export function riffChunk(name: string, ...parts: readonly Part[]): Buffer {
  const body = join(...parts);
  return join(name, le32(body.length), body, body.length % 2 === 1 ? u8(0) : "");
}

/** A gray PNG that declares this size and holds `rows` equal rows. */
export function png(width: number, height: number, rows: number): Buffer {
  const chunk = (name: string, body: Buffer): Buffer => {
    const named = join(name, body);
    return join(u32(body.length), named, u32(crc32(named)));
  };
  const header = join(u32(width, height), u8(8, 0, 0, 0, 0));
  const pixels = deflateSync(Buffer.alloc(rows * (width + 1)), { level: 9 });
  return join(u8(0x89), "PNG\r\n\x1a\n", chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0)));
}
