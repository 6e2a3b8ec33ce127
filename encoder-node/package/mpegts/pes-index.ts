// Where the PES packets of a one-track MPEG-TS segment are in its file.
import { createReadStream } from "node:fs";
import {
  type ElementaryStream,
  elementaryStream,
  PACKET_BYTES,
  packetHeader,
  payloadOf,
  pesStart,
  programMapPid,
  unwrapped,
} from "./ts-packets.ts";

/** A PES packet. Its transport packets are in [`offset`, `endOffset`) of the file, where tables may be among them. */
export type PesSpan = {
  /** When its first frame is shown and decoded, in ticks. */
  readonly shownAt: number;
  readonly decodedAt: number;
  readonly path: string;
  readonly offset: number;
  readonly endOffset: number;
};

export type PesIndex = { readonly stream: ElementaryStream; readonly spans: readonly PesSpan[] };

const CHUNK_BYTES = PACKET_BYTES * 1024;

/** `near`: a time near that of its first frame, in ticks. Throws when the file is not a segment of one track. */
export async function indexPes(path: string, near: number): Promise<PesIndex> {
  const starts: { shownAt: number; decodedAt: number; offset: number }[] = [];
  let mapPid: number | null = null;
  let stream: ElementaryStream | null = null;
  let sizeBytes = 0;
  for await (const packet of packetsOf(path)) {
    const { pid, isStart } = packetHeader(packet, 0);
    if (pid === 0) mapPid = programMapPid(packet);
    else if (pid === mapPid) stream = elementaryStream(packet);
    else if (pid === stream?.pid && isStart) {
      const { shownAt, decodedAt } = pesStart(payloadOf(packet));
      starts.push({ shownAt: unwrapped(shownAt, near), decodedAt: unwrapped(decodedAt, near), offset: sizeBytes });
    }
    sizeBytes += PACKET_BYTES;
  }
  if (!stream) throw new Error("A segment of MPEG-TS without a program");
  const spans = starts.map((start, at) => ({ ...start, path, endOffset: starts[at + 1]?.offset ?? sizeBytes }));
  return { stream, spans };
}

/** The packets of a file, or of [`start`, `end`) of it. Throws when it does not end with a whole one. */
export async function* packetsOf(path: string, start = 0, end = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  // The stream's own `end` is the last byte.
  for await (const chunk of createReadStream(path, { start, end: end - 1, highWaterMark: CHUNK_BYTES })) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const wholeBytes = bytes.length - (bytes.length % PACKET_BYTES);
    for (let at = 0; at < wholeBytes; at += PACKET_BYTES) yield bytes.subarray(at, at + PACKET_BYTES);
    rest = bytes.subarray(wholeBytes);
  }
  if (rest.length > 0) throw new Error("MPEG-TS that ends within a packet");
}
