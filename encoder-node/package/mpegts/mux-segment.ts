// Multiplexes video and audio of the same time into one MPEG-TS segment.
import { pipeline } from "node:stream/promises";
import { createFile } from "../../run-files/open-file.ts";
import type { PesSpan } from "./pes-index.ts";
import { programTables } from "./program-tables.ts";
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
 * The tables, then all packets in decoding order. Audio comes before the first video frame that is decoded no earlier,
 * so that it is available in time. Packets keep the continuity counters of their tracks, whose order does not change.
 */
async function* muxedPackets({ video, audio, streams, number }: MuxedSegment): AsyncGenerator<Buffer> {
  // In their own files, both tracks have the same PID.
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

/** Merges spans that are adjacent in one file, so that they are read at once. */
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

/** The packets of a span that have the PID `from`, with the PID `to`. */
async function* retargeted(span: PesSpan, from: number, to: number): AsyncGenerator<Buffer> {
  for await (const packet of packetsOf(span.path, span.offset, span.endOffset)) {
    if (packetHeader(packet, 0).pid !== from) continue;
    const copy = Buffer.from(packet);
    copy.writeUInt16BE((packet.readUInt16BE(1) & 0xe000) | to, 1);
    yield copy;
  }
}
