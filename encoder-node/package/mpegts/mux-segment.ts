// Multiplexes video and audio of the same time into a single MPEG-TS segment.
import { pipeline } from "node:stream/promises";
import { createFile } from "../../run-files/open-file.ts";
import type { PesSpan } from "./pes-index.ts";
import { packetsOf } from "./stream-packets.ts";
import { type ElementaryStream, PACKET_BYTES, packetHeader } from "./ts-packets.ts";

export type MuxedSegment = {
  /** In decoding order. Empty after the end of the video. */
  readonly video: readonly PesSpan[];
  readonly audio: readonly PesSpan[];
  /** The elementary streams of the two tracks' files. */
  readonly streams: { readonly video: ElementaryStream; readonly audio: ElementaryStream };
  /** The number of earlier segments of the variant, at which the tables' continuity counters continue. */
  readonly number: number;
};

/** Writes the segment and returns its size in bytes. */
export async function writeMuxed(path: string, segment: MuxedSegment): Promise<number> {
  const file = (await createFile(path, 0o644)).createWriteStream({ highWaterMark: PACKET_BYTES * 1024 });
  await pipeline(muxedPackets(segment), file);
  return file.bytesWritten;
}

/**
 * Yields the tables, then all packets in decoding order. Audio precedes the first video frame that is decoded at the
 * same time or later, so that the audio is available in time. Packets keep the continuity counters of their tracks,
 * because the order within a track does not change.
 */
async function* muxedPackets({ video, audio, streams, number }: MuxedSegment): AsyncGenerator<Buffer> {
  // Both tracks have the same PID in their own files.
  const pids = { video: streams.video.pid, audio: streams.video.pid + 1 };
  const tables = [streams.video, { ...streams.audio, pid: pids.audio }];
  yield programTables(tables, video.length > 0 ? pids.video : pids.audio, number);
  for (const { kind, span } of joined(interleaved(video, audio))) {
    yield* retargeted(span, streams[kind].pid, pids[kind]);
  }
}

type Source = { readonly kind: "video" | "audio"; readonly span: PesSpan };

function interleaved(video: readonly PesSpan[], audio: readonly PesSpan[]): Source[] {
  const sources: Source[] = [];
  let next = 0;
  const takeAudio = (until: number): void => {
    for (let span = audio[next]; span && span.decodedAt <= until; span = audio[next]) {
      sources.push({ kind: "audio", span });
      next += 1;
    }
  };
  for (const span of video) {
    takeAudio(span.decodedAt);
    sources.push({ kind: "video", span });
  }
  takeAudio(Number.POSITIVE_INFINITY);
  return sources;
}

/** Merges adjacent spans of the same file, so that they are read at once. */
function joined(sources: readonly Source[]): Source[] {
  const runs: Source[] = [];
  for (const source of sources) {
    const last = runs.at(-1);
    const { path, offset, endOffset } = source.span;
    if (last?.kind === source.kind && last.span.path === path && last.span.endOffset === offset) {
      runs[runs.length - 1] = { ...last, span: { ...last.span, endOffset } };
    } else runs.push(source);
  }
  return runs;
}

/** Yields the packets of a span that have the PID `from`, with their PID replaced by `to`. */
async function* retargeted(span: PesSpan, from: number, to: number): AsyncGenerator<Buffer> {
  for await (const packet of packetsOf(span.path, span.offset, span.endOffset)) {
    if (packetHeader(packet, 0).pid !== from) continue;
    const copy = Buffer.from(packet);
    copy.writeUInt16BE((packet.readUInt16BE(1) & 0xe000) | to, 1);
    yield copy;
  }
}

// Builds the packets with the tables of a transport stream with a single program (ISO/IEC 13818-1 §2.4.4).

/** The PID of the program map table, as in ffmpeg. */
const PROGRAM_MAP_PID = 0x1000;

const PROGRAM = 1;
const STUFFING = 0xff;

/** The program association table and the program map table. `counter` is the continuity counter of both packets. */
function programTables(streams: readonly ElementaryStream[], clockPid: number, counter: number): Buffer {
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

/** A section in the long form (§2.4.4.3): version 0, the only section of its table. */
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
