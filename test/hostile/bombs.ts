// Small files that declare huge content: frames, tracks, durations and tables.
import { deflateSync, gzipSync } from "node:zlib";
import { box, element, fullBox, join, le32, number, png, u8, u16, u32 } from "./forge.ts";
import { matroska, movie, trackEntry } from "./small-clips.ts";

export type Make = (name: string, options: string) => Promise<Buffer>;
export type Bomb = {
  /** `make` runs ffmpeg to make a file with a single frame. */
  readonly bytes: (make: Make) => Buffer | string | Promise<Buffer>;
  /** The outcome of the video outputs. The audio output of a video without audio has no outcome here. */
  readonly ends: "made" | "refused" | "either";
};

const MANY = 2 ** 28;

/** Big-endian bits; numbers are Exp-Golomb codes of H.264 (9.1). */
function bits(...values: readonly (string | number)[]): Buffer {
  const golomb = (value: number): string => {
    const code = (value + 1).toString(2);
    return "0".repeat(code.length - 1) + code;
  };
  const text = `${values.map((value) => (typeof value === "number" ? golomb(value) : value)).join("")}1`;
  const bytes = text.padEnd(Math.ceil(text.length / 8) * 8, "0").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** A baseline stream of truncated key frames of 12000x12000. */
function hugeH264(): Buffer {
  const start = u8(0, 0, 0, 1);
  const side = 12_000 / 16 - 1;
  const sps = join(u8(0x67, 66, 0, 62), bits(0, 0, 2, 1, "0", side, side, "1", "1", "0", "0"));
  const pps = join(u8(0x68), bits(0, 0, "0", "0", 0, 0, 0, "0", "00", 0, 0, 0, "0", "0", "0"));
  const slice = join(u8(0x65), bits(0, 7, 0, "0000", 0), Buffer.alloc(300, 0x55));
  return join(...Array.from({ length: 50 }, () => join(start, sps, start, pps, start, slice)));
}

/** Position of a file's size in its header: two values of 16 bits behind a mark. */
type Size = {
  readonly mark: Buffer;
  readonly skip: number;
  readonly order: "be" | "le";
  readonly heightFirst: boolean;
};

/** A copy of `file` with another size in its header. */
function resized(
  file: Buffer,
  { mark, skip, order, heightFirst }: Size,
  side: { width: number; height: number },
): Buffer {
  const at = file.indexOf(mark);
  if (at < 0) throw new Error("No such header");
  const bytes = Buffer.from(file);
  const sides = heightFirst ? [side.height, side.width] : [side.width, side.height];
  for (const [index, value] of sides.entries()) {
    const to = at + skip + 2 * index;
    if (order === "be") bytes.writeUInt16BE(value, to);
    else bytes.writeUInt16LE(value, to);
  }
  return bytes;
}

const ONE = "-an -frames:v 1";
const square = (side: number) => ({ width: side, height: side });

/** SOF0: length and depth, then lines and columns (ITU-T T.81, B.2.2). */
const JPEG: Size = { mark: u8(0xff, 0xc0), skip: 5, order: "be", heightFirst: true };
/** Logical screen (GIF89a, 18). */
const GIF: Size = { mark: Buffer.from("GIF89a"), skip: 6, order: "le", heightFirst: false };
/** Size behind VP8's start code (RFC 6386, 9.1), 14 bits each. */
const WEBP: Size = { mark: u8(0x9d, 0x01, 0x2a), skip: 3, order: "le", heightFirst: false };

function wav(channels: number, rate: number): Buffer {
  const le16 = (value: number): Buffer => u8(value & 255, value >> 8);
  const format = join(le16(1), le16(channels), le32(rate, rate * 2), le16((channels * 2) & 0xffff), le16(16));
  const data = Buffer.alloc(100_000, 0x55);
  const body = join("WAVEfmt ", le32(16), format, "data", le32(data.length), data);
  return join("RIFF", le32(body.length), body);
}

/** A table of programs and a table of tracks, over and over (ISO/IEC 13818-1, 2.4.4). */
function transportOfTracks(tracks: number): Buffer {
  const section = (table: number, body: Buffer): Buffer => {
    const length = body.length + 9;
    const head = join(u8(table), u16(0xb000 | length), u16(1), u8(0xc1, 0, 0), body);
    return join(head, u32(mpegCrc(head)));
  };
  const programs = section(0, join(u16(1), u16(0xe000 | 0x100)));
  const list = Array.from({ length: tracks }, (_, at) => join(u8(0x1b), u16(0xe000 | (0x200 + at)), u16(0xf000)));
  const map = section(2, join(u16(0xe200), u16(0xf000), ...list));
  const once = join(...packets(0, programs), ...packets(0x100, map));
  return join(...Array.from({ length: 50 }, () => once));
}

function packets(pid: number, section: Buffer): Buffer[] {
  const bytes = join(u8(0), section);
  const count = Math.ceil(bytes.length / 184);
  return Array.from({ length: count }, (_, at) => {
    const part = bytes.subarray(at * 184, at * 184 + 184);
    return join(
      u8(0x47),
      u16((at === 0 ? 0x4000 : 0) | pid),
      u8(0x10 | (at & 15)),
      part,
      Buffer.alloc(184 - part.length, 0xff),
    );
  });
}

function mpegCrc(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}

/** Repeats the same words `entries` times. */
const repeated = (entries: number, words: Buffer): Buffer => {
  const bytes = Buffer.alloc(entries * words.length);
  for (let at = 0; at < entries; at++) words.copy(bytes, at * words.length);
  return bytes;
};

const edits = (entries: number): Buffer => fullBox("elst", u32(entries), repeated(entries, u32(1, 0, 0x10000)));

/** QuickTime's compressed header: compression method, unpacked size, and zlib's bytes. */
const compressed = (bytes: Buffer, claimed: number): Buffer =>
  box("moov", box("cmov", box("dcom", "zlib"), box("cmvd", u32(claimed), bytes)));

/** Tables of a track with equal samples: their number is enough. */
const countless = (count: number): Readonly<Record<string, Buffer>> => ({
  stts: fullBox("stts", u32(1, count, 1)),
  stsc: fullBox("stsc", u32(1, 1, count, 1)),
  stsz: fullBox("stsz", u32(1, count)),
});

const ZLIB = element(
  0x6d80,
  element(0x6240, number(0x5031, 0), number(0x5032, 1), number(0x5033, 0), element(0x5034, number(0x4254, 0))),
);

export const BOMBS: Readonly<Record<string, Bomb>> = {
  "a PNG of 30000x30000": { bytes: () => png(30_000, 30_000, 1), ends: "refused" },
  "a PNG of 12000x12000, all there": { bytes: () => png(12_000, 12_000, 12_000), ends: "refused" },
  "a JPEG of 65500x65500": {
    bytes: async (make) => resized(await make("a.jpg", ONE), JPEG, square(65_500)),
    ends: "refused",
  },
  "a JPEG of 12000x12000": {
    bytes: async (make) => resized(await make("a.jpg", ONE), JPEG, square(12_000)),
    ends: "refused",
  },
  "a WebP of 16383x16000": {
    bytes: async (make) => resized(await make("a.webp", ONE), WEBP, { width: 16_383, height: 16_000 }),
    ends: "refused",
  },
  "a GIF of 65535x65535": {
    bytes: async (make) => resized(await make("a.gif", ONE), GIF, square(65_535)),
    ends: "refused",
  },
  "a GIF of 12000x12000": {
    bytes: async (make) => resized(await make("a.gif", ONE), GIF, square(12_000)),
    ends: "refused",
  },
  "H.264 of 12000x12000": { bytes: hugeH264, ends: "refused" },
  "Matroska with 100,000 tracks": {
    bytes: () => matroska({ tracks: join(...Array.from({ length: 100_000 }, (_, at) => trackEntry(at + 1))) }),
    ends: "refused",
  },
  "a transport stream with 190 tracks": { bytes: () => transportOfTracks(190), ends: "refused" },
  "two frames ten hours apart": { bytes: () => matroska({ timesMs: [0, 36_000_000] }), ends: "either" },
  "300,000 edits": { bytes: () => movie({ edits: edits(300_000) }), ends: "either" },
  "edits without end": { bytes: () => movie({ edits: fullBox("elst", u32(MANY, 1, 0, 0x10000)) }), ends: "either" },
  "a frame that lasts for 2 billion ticks": {
    bytes: () => movie({ tables: { stts: fullBox("stts", u32(2, 24, 1, 1, 2 ** 31 - 1)) } }),
    ends: "either",
  },
  "a quarter of a billion samples in a kilobyte": { bytes: () => movie({ tables: countless(MANY) }), ends: "either" },
  "two billion samples in a kilobyte": { bytes: () => movie({ tables: countless(2 ** 31) }), ends: "either" },
  "a million runs of times": {
    bytes: () => movie({ tables: { stts: fullBox("stts", u32(1_000_000), repeated(1_000_000, u32(1, 1))) } }),
    ends: "either",
  },
  "offsets of times for four billion samples": {
    bytes: () => movie({ tables: { ctts: fullBox("ctts", u32(1, 2 ** 32 - 1, 1)) } }),
    ends: "either",
  },
  "a header that unpacks to 200 MB": {
    bytes: () => movie({ wrap: () => compressed(deflateSync(Buffer.alloc(200_000_000), { level: 9 }), 200_000_000) }),
    ends: "refused",
  },
  "a header that declares 4 GB unpacked": {
    bytes: () => movie({ wrap: (moov) => compressed(deflateSync(moov), 2 ** 32 - 16) }),
    ends: "either",
  },
  "packets that unpack to 200 MB": {
    bytes: () => {
      const payload = deflateSync(Buffer.alloc(200_000_000), { level: 9 });
      return matroska({ track: ZLIB, payload, timesMs: [0, 40, 80, 120, 160, 200] });
    },
    ends: "either",
  },
  "a million frames a second": { bytes: () => movie({ timescale: 1_000_000 }), ends: "either" },
  "audio of four billion samples a second": { bytes: () => wav(1, 2 ** 32 - 1), ends: "refused" },
  "audio of 65535 channels": { bytes: () => wav(65_535, 44_100), ends: "refused" },
  "a movie that breaks off": { bytes: () => movie().subarray(0, 19_500), ends: "refused" },
  nothing: { bytes: () => "", ends: "refused" },
  text: { bytes: () => "This file is plain text.\n".repeat(10_000), ends: "refused" },
  "a packed archive": { bytes: () => gzipSync(Buffer.alloc(50_000_000)), ends: "refused" },
};
