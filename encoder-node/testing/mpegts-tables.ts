// Edits the stream types in the tables of an MPEG-TS (ISO/IEC 13818-1 §2.4).

const PACKET_BYTES = 188;
/** The PID of the program map table in ffmpeg's muxer. */
const PMT_PID = 0x1000;
/** Metadata in PES packets (table 2-34). */
const METADATA_TYPE = 0x15;

/** A copy in which the stream with this PID is a data stream: it keeps its times, but has no recognizable content. */
export function asDataStream(bytes: Buffer, pid: number): Buffer {
  const changed = Buffer.from(bytes);
  let isChanged = false;
  for (let at = 0; at + PACKET_BYTES <= changed.length; at += PACKET_BYTES) {
    const packet = changed.subarray(at, at + PACKET_BYTES);
    const packetPid = packet.readUInt16BE(1) & 0x1fff;
    if (packetPid === PMT_PID) isChanged = retype(packet, pid) || isChanged;
    if (packetPid === pid) blank(packet);
  }
  if (!isChanged) throw new Error("No such stream");
  return changed;
}

/** Sets a stream's type in the packet's table. */
function retype(packet: Buffer, pid: number): boolean {
  // The table starts after the packet's header and a pointer.
  const section = 5 + (packet[4] ?? 0);
  const end = section + 3 + (packet.readUInt16BE(section + 1) & 0xfff) - 4;
  let isChanged = false;
  let stream = section + 12 + (packet.readUInt16BE(section + 10) & 0xfff);
  while (stream < end) {
    if ((packet.readUInt16BE(stream + 1) & 0x1fff) === pid) {
      packet[stream] = METADATA_TYPE;
      isChanged = true;
    }
    stream += 5 + (packet.readUInt16BE(stream + 3) & 0xfff);
  }
  packet.writeUInt32BE(crc32(packet.subarray(section, end), 0xffffffff), end);
  return isChanged;
}

/** Zeroes the payload of the packet, except the header of a PES packet that starts in it. */
function blank(packet: Buffer): void {
  const hasAdaptation = ((packet[3] ?? 0) & 0x20) !== 0;
  const payload = hasAdaptation ? 5 + (packet[4] ?? 0) : 4;
  const begins = ((packet[1] ?? 0) & 0x40) !== 0;
  // private_stream_1
  if (begins) packet[payload + 3] = 0xbd;
  packet.fill(0, begins ? payload + 9 + (packet[payload + 8] ?? 0) : payload);
}

/** The CRC of MPEG tables (initial value: all bits set) and of Ogg pages (initial value: 0). */
export function crc32(bytes: Uint8Array, initial: number): number {
  let crc = initial >>> 0;
  for (const byte of bytes) {
    crc = (crc ^ (byte << 24)) >>> 0;
    for (let bit = 0; bit < 8; bit++) crc = ((crc & 0x80000000) === 0 ? crc << 1 : (crc << 1) ^ 0x04c11db7) >>> 0;
  }
  return crc;
}
