// Reads the packets of an MPEG-TS file, and finds the packets of its only elementary stream.
import { openFile } from "../../run-files/open-file.ts";
import { type ElementaryStream, elementaryStream, PACKET_BYTES, packetHeader, programMapPid } from "./ts-packets.ts";

const CHUNK_BYTES = PACKET_BYTES * 1024;

/**
 * Pieces of a file, or of its bytes [`start`, `end`), that consist of whole packets. Throws when the last packet is
 * incomplete.
 */
async function* packetRuns(path: string, start: number, end: number): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  const file = await openFile(path);
  // `end` of the read stream is inclusive.
  const chunks = file.createReadStream({ start, end: end - 1, highWaterMark: CHUNK_BYTES });
  for await (const chunk of chunks as AsyncIterable<Buffer>) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const wholeBytes = bytes.length - (bytes.length % PACKET_BYTES);
    yield bytes.subarray(0, wholeBytes);
    rest = bytes.subarray(wholeBytes);
  }
  if (rest.length > 0) throw new Error("MPEG-TS file ends within a packet");
}

/** The packets in the bytes [`start`, `end`) of a file. Throws when the last packet is incomplete. */
export async function* packetsOf(path: string, start: number, end: number): AsyncGenerator<Buffer> {
  for await (const run of packetRuns(path, start, end)) {
    for (let at = 0; at < run.length; at += PACKET_BYTES) yield run.subarray(at, at + PACKET_BYTES);
  }
}

/** A packet of the elementary stream. `offset` is its position in the file. `isStart`: a PES packet starts in it. */
export type StreamPacket = { readonly packet: Buffer; readonly offset: number; readonly isStart: boolean };

/**
 * Calls `visit` with each packet of the file's elementary stream, in order. The packets are only valid during the call.
 * Throws when the file does not have exactly one elementary stream.
 */
export async function visitStream(
  path: string,
  visit: (packet: StreamPacket) => void,
): Promise<{ readonly stream: ElementaryStream; readonly sizeBytes: number }> {
  let mapPid: number | null = null;
  let stream: ElementaryStream | null = null;
  let offset = 0;
  for await (const run of packetRuns(path, 0, Number.POSITIVE_INFINITY)) {
    for (let at = 0; at < run.length; at += PACKET_BYTES, offset += PACKET_BYTES) {
      const packet = run.subarray(at, at + PACKET_BYTES);
      const { pid, isStart } = packetHeader(packet, 0);
      if (pid === stream?.pid) visit({ packet, offset, isStart });
      else if (pid === 0) mapPid = programMapPid(packet);
      else if (pid === mapPid) stream = elementaryStream(packet);
    }
  }
  if (!stream) throw new Error("MPEG-TS segment without a program");
  return { stream, sizeBytes: offset };
}
