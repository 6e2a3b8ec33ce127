// Minimal videos of gray 16x16 frames in several formats. Tests add hostile structures to them.
import { box, element, fullBox, join, le32, number, riffChunk, u8, u16, u32 } from "./forge.ts";

const SIDE = 16;
const RGB_BYTES = SIDE * SIDE * 3;
const gray = (bytes: number): Buffer => Buffer.alloc(bytes, 0x80);

export type MovieParts = {
  readonly timescale?: number;
  readonly frames?: number;
  /** Replaces the entry of `dref` that points to this file as the place of the samples. */
  readonly reference?: Buffer;
  readonly edits?: Buffer;
  /** Replacements for boxes of `stbl`, by type. */
  readonly tables?: Readonly<Record<string, Buffer>>;
  /** Transforms the finished `moov` before it is written. */
  readonly wrap?: (moov: Buffer) => Buffer;
};

/** A QuickTime movie of uncompressed frames. */
export function movie(parts: MovieParts = {}): Buffer {
  const { timescale = 25, frames = 25, reference = fullEntry("url ", u8(0, 0, 0, 1)), edits, wrap } = parts;
  const head = join(box("ftyp", "qt  ", u32(0), "qt  "), box("mdat", gray(RGB_BYTES * frames)));
  const matrix = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);
  const entry = box(
    "raw ",
    ...[u32(0, 1), u32(0, 0, 0, 0), u16(SIDE), u16(SIDE), u32(0x480000, 0x480000, 0), u16(1)],
    ...[Buffer.alloc(32), u16(24), u16(0xffff)],
  );
  const tables = {
    stsd: fullBox("stsd", u32(1), entry),
    stts: fullBox("stts", u32(1, frames, 1)),
    stsc: fullBox("stsc", u32(1, 1, frames, 1)),
    stsz: fullBox("stsz", u32(RGB_BYTES, frames)),
    stco: fullBox("stco", u32(1, head.length - RGB_BYTES * frames)),
    ...parts.tables,
  };
  const media = box(
    "mdia",
    fullBox("mdhd", u32(0, 0, timescale, frames), u16(0), u16(0)),
    fullBox("hdlr", "mhlrvide", u32(0, 0, 0), u8(0)),
    box(
      "minf",
      fullBox("vmhd", u32(0, 0)),
      box("dinf", fullBox("dref", u32(1), reference)),
      box("stbl", ...Object.values(tables)),
    ),
  );
  const size = u32(SIDE << 16, SIDE << 16);
  const track = box(
    "trak",
    fullBox("tkhd", u32(0, 0, 1, 0, frames, 0, 0, 0, 0), matrix, size),
    ...(edits ? [box("edts", edits)] : []),
    media,
  );
  const moov = box(
    "moov",
    fullBox("mvhd", u32(0, 0, timescale, frames, 0x10000), Buffer.alloc(12), matrix, Buffer.alloc(24), u32(2)),
    track,
  );
  return join(head, wrap ? wrap(moov) : moov);
}

const fullEntry = (type: string, flags: Buffer): Buffer => join(u32(12), type, flags);

const YUV_BYTES = (SIDE * SIDE * 3) / 2;
const frame = (): Buffer => gray(YUV_BYTES);

export type MatroskaParts = {
  /** The timestamp of each frame, in ms. */
  readonly timesMs?: readonly number[];
  readonly info?: Buffer;
  /** Added to the entry of the track. */
  readonly track?: Buffer;
  /** Replaces the entry of the track. */
  readonly tracks?: Buffer;
  readonly payload?: Buffer;
  /** Inserted between tracks and clusters. */
  readonly more?: Buffer;
};

const EMPTY: Buffer = Buffer.alloc(0);

/** An entry of a Matroska track. */
export const trackEntry = (index: number, more: Buffer = EMPTY): Buffer =>
  element(
    0xae,
    ...[number(0xd7, index), number(0x73c5, index), number(0x83, 1), element(0x86, "V_UNCOMPRESSED"), more],
    element(0xe0, number(0xb0, SIDE), number(0xba, SIDE), element(0x2eb524, "I420")),
  );

/** A Matroska video of uncompressed frames, each in its own cluster. */
export function matroska(parts: MatroskaParts = {}): Buffer {
  const { timesMs = [0, 40, 80, 120], info = EMPTY, track, more = EMPTY, payload = frame() } = parts;
  const clusters = timesMs.map((ms) =>
    element(0x1f43b675, number(0xe7, ms), element(0xa3, u8(0x81, 0, 0, 0x80), payload)),
  );
  return join(
    element(0x1a45dfa3, element(0x4282, "matroska"), number(0x4287, 4), number(0x4285, 2)),
    element(
      0x18538067,
      element(0x1549a966, number(0x2ad7b1, 1_000_000), info),
      element(0x1654ae6b, parts.tracks ?? trackEntry(1, track)),
      more,
      ...clusters,
    ),
  );
}

/** An AVI of uncompressed frames, with a text stream of one packet. */
export function aviWithText(packet: Buffer): Buffer {
  const frames = 10;
  const header = (type: string, handler: string, count: number): Buffer =>
    riffChunk("strh", type, handler, le32(0, 0, 0, 1, 10, 0, count, RGB_BYTES, -1, 0, 0, 0));
  const bitmap = riffChunk("strf", le32(40, SIDE, SIDE), u8(1, 0, 24, 0), le32(0, RGB_BYTES, 0, 0, 0, 0));
  const lists = riffChunk(
    "LIST",
    "hdrl",
    riffChunk("avih", le32(100_000, 0, 0, 0, frames, 0, 2, RGB_BYTES, SIDE, SIDE, 0, 0, 0, 0)),
    riffChunk("LIST", "strl", header("vids", "DIB ", frames), bitmap),
    riffChunk("LIST", "strl", header("txts", "\0\0\0\0", 1), riffChunk("strf", EMPTY)),
  );
  const chunks = Array.from({ length: frames }, () => riffChunk("00db", gray(RGB_BYTES)));
  return riffChunk("RIFF", "AVI ", lists, riffChunk("LIST", "movi", riffChunk("01tx", packet), ...chunks));
}
