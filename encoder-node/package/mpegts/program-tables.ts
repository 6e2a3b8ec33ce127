// Builds the packets with the tables of a transport stream with one program (ISO/IEC 13818-1 §2.4.4).
import { type ElementaryStream, PACKET_BYTES } from "./ts-packets.ts";

/** The PID of the program map table, as in ffmpeg. */
export const PROGRAM_MAP_PID = 0x1000;

const PROGRAM = 1;
const STUFFING = 0xff;

/** The program association table and the program map table. `counter` is the continuity counter of both packets. */
export function programTables(streams: readonly ElementaryStream[], clockPid: number, counter: number): Buffer {
  const association = Buffer.from([
    PROGRAM >> 8,
    PROGRAM & 0xff,
    0xe0 | (PROGRAM_MAP_PID >> 8),
    PROGRAM_MAP_PID & 0xff,
  ]);
  const entries = streams.flatMap(({ type, pid }) => [type, 0xe0 | (pid >> 8), pid & 0xff, 0xf0, 0]);
  const map = Buffer.from([0xe0 | (clockPid >> 8), clockPid & 0xff, 0xf0, 0, ...entries]);
  return Buffer.concat([
    tablePacket(0, counter, section(0, 1, association)),
    tablePacket(PROGRAM_MAP_PID, counter, section(2, PROGRAM, map)),
  ]);
}

/** A section in the long form (§2.4.4.3): version 0, the only one of its table. */
function section(tableId: number, extension: number, body: Buffer): Buffer {
  const length = 5 + body.length + 4;
  const head = [tableId, 0xb0 | (length >> 8), length & 0xff, extension >> 8, extension & 0xff, 0xc1, 0, 0];
  const text = Buffer.concat([Buffer.from(head), body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(checksumOf(text));
  return Buffer.concat([text, checksum]);
}

function tablePacket(pid: number, counter: number, table: Buffer): Buffer {
  const packet = Buffer.alloc(PACKET_BYTES, STUFFING);
  packet.set([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10 | (counter & 0xf), 0]);
  packet.set(table, 5);
  return packet;
}

/** CRC-32/MPEG-2 (annex A): polynomial 0x04c11db7, most significant bit first, neither reflected nor inverted. */
function checksumOf(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}
