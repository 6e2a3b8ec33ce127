// Reads packets of MPEG transport streams (ISO/IEC 13818-1) with a single elementary stream.

export const PACKET_BYTES = 188;
/** The clock of all timestamps (§2.4.3.7). */
export const TICKS_PER_SECOND = 90_000;
const SYNC_BYTE = 0x47;

/** `isStart`: a PES packet or a table starts in this packet. */
export type PacketHeader = { readonly pid: number; readonly isStart: boolean };

/** Reads the header of the packet at an offset (§2.4.3.2). Throws when no packet starts there. */
export function packetHeader(bytes: Buffer, at: number): PacketHeader {
  if (bytes.readUInt8(at) !== SYNC_BYTE) throw new Error("MPEG-TS packet has no sync byte");
  const word = bytes.readUInt16BE(at + 1);
  return { pid: word & 0x1fff, isStart: (word & 0x4000) !== 0 };
}

/** The payload of a packet, after its adaptation field. */
export function payloadOf(packet: Buffer): Buffer {
  const control = packet.readUInt8(3) & 0x30;
  if (!(control & 0x10)) return packet.subarray(PACKET_BYTES);
  return packet.subarray(control & 0x20 ? 5 + packet.readUInt8(4) : 4, PACKET_BYTES);
}

/** random_access_indicator (§2.4.3.5): decoding can start here. */
export function isRandomAccess(packet: Buffer): boolean {
  const hasField = (packet.readUInt8(3) & 0x20) !== 0 && packet.readUInt8(4) > 0;
  return hasField && (packet.readUInt8(5) & 0x40) !== 0;
}

/** The PID of the only program's table, from the packet of the program association table, PID 0 (§2.4.4.3). */
export function programMapPid(packet: Buffer): number {
  const [pid, ...others] = entriesOf(sectionOf(packet), 8, () => 4)
    .filter((entry) => entry.readUInt16BE(0) !== 0)
    .map((entry) => entry.readUInt16BE(2) & 0x1fff);
  if (pid === undefined || others.length > 0) throw new Error("MPEG-TS has more or less than one program");
  return pid;
}

export type ElementaryStream = { readonly pid: number; readonly type: number };

/** The only elementary stream of the program, from the packet of the program's table (§2.4.4.8). */
export function elementaryStream(packet: Buffer): ElementaryStream {
  const section = sectionOf(packet);
  const from = 12 + (section.readUInt16BE(10) & 0xfff);
  const sizeOf = (entry: Buffer): number => 5 + (entry.readUInt16BE(3) & 0xfff);
  const [stream, ...others] = entriesOf(section, from, sizeOf);
  if (!stream || others.length > 0) throw new Error("MPEG-TS has more or less than one stream");
  return { type: stream.readUInt8(0), pid: stream.readUInt16BE(1) & 0x1fff };
}

/** The section of a table without its checksum. The section must be in a single packet. */
function sectionOf(packet: Buffer): Buffer {
  const payload = payloadOf(packet);
  const section = payload.subarray(1 + payload.readUInt8(0));
  const sizeBytes = 3 + (section.readUInt16BE(1) & 0xfff);
  if (sizeBytes > section.length) throw new Error("MPEG-TS table is larger than one packet");
  return section.subarray(0, sizeBytes - 4);
}

function entriesOf(section: Buffer, from: number, sizeOf: (entry: Buffer) => number): Buffer[] {
  const entries: Buffer[] = [];
  for (let at = from; at < section.length; at += sizeOf(section.subarray(at))) entries.push(section.subarray(at));
  return entries;
}

export type PesStart = {
  /** The presentation time of its frame, modulo 2^33 (§2.4.3.7). */
  readonly shownAt: number;
  /** The decoding time; equal to the presentation time where frames are not reordered. */
  readonly decodedAt: number;
  readonly data: Buffer;
};

/** Reads the start of a PES packet with a timestamp (§2.4.3.6). Throws when it is incomplete. */
export function pesStart(payload: Buffer): PesStart {
  if (payload.readUIntBE(0, 3) !== 1 || !(payload.readUInt8(7) & 0x80)) {
    throw new Error("MPEG-TS frame has no timestamp");
  }
  const shownAt = timestampAt(payload, 9);
  return {
    shownAt,
    decodedAt: payload.readUInt8(7) & 0x40 ? timestampAt(payload, 14) : shownAt,
    data: payload.subarray(9 + payload.readUInt8(8)),
  };
}

/** A timestamp has 33 bits in five bytes. */
const timestampAt = (payload: Buffer, at: number): number =>
  ((payload.readUInt8(at) >> 1) & 7) * 2 ** 30 +
  (payload.readUInt16BE(at + 1) >> 1) * 2 ** 15 +
  (payload.readUInt16BE(at + 3) >> 1);

const WRAP = 2 ** 33;

/** The possible value of a timestamp that is nearest to another time. Timestamps wrap around after 26.5 hours. */
export const unwrapped = (ticks: number, near: number): number => ticks + Math.round((near - ticks) / WRAP) * WRAP;
