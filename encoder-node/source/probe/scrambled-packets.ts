// Recognizes an MPEG-TS whose payload is scrambled, as pay TV is recorded without its card.
import { open } from "node:fs/promises";

/** Some thousand packets: a second of most broadcasts. */
const HEAD_BYTES = 1024 * 1024;
const SYNC = 0x47;
/** Lengths of packets: plain, with the timestamp of Blu-ray, with the parity of broadcasts. */
const PACKET_BYTES = [188, 192, 204];
/** Packets in a row that start with the sync byte in an MPEG-TS, and hardly in any other file. */
const CERTAIN_PACKETS = 10;
/** PIDs of tables come before the first, stuffing has the last (ISO/IEC 13818-1 table 2-3). */
const PIDS = { first: 0x20, stuffing: 0x1fff };

/**
 * The PIDs of which most of the first packets are scrambled; none for a file of another kind. Some receivers leave the
 * mark on packets that they have descrambled, so this explains streams that cannot be read, and no others.
 */
export async function scrambledPids(path: string): Promise<ReadonlySet<number>> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return scrambledIn(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

export function scrambledIn(bytes: Buffer): ReadonlySet<number> {
  const packets = packetsOf(bytes).map((at) => ({
    pid: bytes.readUInt16BE(at + 1) & 0x1fff,
    // `transport_scrambling_control` (§2.4.3.3).
    isScrambled: ((bytes[at + 3] ?? 0) & 0xc0) !== 0,
  }));
  const media = packets.filter(({ pid }) => pid >= PIDS.first && pid !== PIDS.stuffing);
  const scrambled = [...Map.groupBy(media, ({ pid }) => pid)].filter(
    ([, all]) => all.filter(({ isScrambled }) => isScrambled).length > all.length / 2,
  );
  return new Set(scrambled.map(([pid]) => pid));
}

/** Where the packets begin; empty for a file of another kind. */
function packetsOf(bytes: Buffer): number[] {
  for (const length of PACKET_BYTES) {
    const starts = (from: number, count: number): number[] =>
      Array.from({ length: count }, (_, packet) => from + packet * length);
    for (let from = 0; from < length; from++) {
      if (starts(from, CERTAIN_PACKETS).every((at) => bytes[at] === SYNC)) {
        const count = Math.floor((bytes.length - from - 4) / length);
        return starts(from, count).filter((at) => bytes[at] === SYNC);
      }
    }
  }
  return [];
}
