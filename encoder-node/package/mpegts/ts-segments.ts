// Reads finished MPEG-TS segments of one track, packet by packet.
import { createReadStream } from "node:fs";
import type { TrackKind } from "#shared/plan/command/output-plan.ts";
import { secondsOfAdts, soundOfAdts } from "../codecs/aac.ts";
import type { CodecDescription } from "../codecs/codec-strings.ts";
import { findSps, pictureOfSps } from "../codecs/h264-sps.ts";
import type { Piece } from "../segment-boundaries.ts";
import {
  elementaryStream,
  isRandomAccess,
  PACKET_BYTES,
  packetHeader,
  payloadOf,
  pesStart,
  programMapPid,
  TICKS_PER_SECOND,
  unwrapped,
} from "./ts-packets.ts";

export type TsSegment = Piece & { readonly description: CodecDescription };

export type TsFile = {
  readonly path: string;
  readonly kind: TrackKind;
  /** A time near that of its first frame, in ticks. */
  readonly near: number;
  /** The duration of its frame if it has but one, in ticks. */
  readonly frameTicks: number;
};

const CHUNK_BYTES = PACKET_BYTES * 1024;

/** Reads a segment from its file. Throws when it is not what ffmpeg writes of one track. */
export async function readTsSegment(file: TsFile): Promise<TsSegment> {
  const scan = scanPackets(file.kind);
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(file.path, { highWaterMark: CHUNK_BYTES })) {
    const bytes = Buffer.concat([rest, chunk]);
    const wholeBytes = bytes.length - (bytes.length % PACKET_BYTES);
    for (let at = 0; at < wholeBytes; at += PACKET_BYTES) scan.take(bytes, at);
    rest = bytes.subarray(wholeBytes);
  }
  if (rest.length > 0) throw new Error("MPEG-TS that ends within a packet");
  return segmentOf(scan.result(), file);
}

/** A PES packet: ffmpeg puts each picture in one, and several frames of sound. */
type Frame = {
  /** Where its first packet begins, and where its last one ends. */
  readonly offset: number;
  endOffset: number;
  /** Modulo 2^33. */
  readonly shownAt: number;
  readonly isRandomAccess: boolean;
};

type Scanned = {
  readonly sizeBytes: number;
  readonly frames: readonly Frame[];
  readonly head: Buffer;
  /** Of sound, what is in the last PES packet. */
  readonly tail: Buffer;
};

/** Enough of the first frame to hold the parameter sets in front of its picture. */
const HEAD_BYTES = 16 * 1024;

function scanPackets(kind: TrackKind): { take(bytes: Buffer, at: number): void; result(): Scanned } {
  const frames: Frame[] = [];
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let sizeBytes = 0;
  let mapPid: number | null = null;
  let pid: number | null = null;

  const takeStart = (packet: Buffer): void => {
    const { shownAt, data } = pesStart(payloadOf(packet));
    if (frames.length === 0) head.push(Buffer.from(data));
    if (kind === "audio") tail = [Buffer.from(data)];
    const place = { offset: sizeBytes, endOffset: sizeBytes + PACKET_BYTES };
    frames.push({ ...place, shownAt, isRandomAccess: isRandomAccess(packet) });
  };
  const takeRest = (packet: Buffer): void => {
    const frame = frames.at(-1);
    if (frame) frame.endOffset = sizeBytes + PACKET_BYTES;
    if (kind === "audio") tail.push(Buffer.from(payloadOf(packet)));
    if (frames.length === 1 && head.length * PACKET_BYTES < HEAD_BYTES) head.push(Buffer.from(payloadOf(packet)));
  };
  return {
    take(bytes, at) {
      const header = packetHeader(bytes, at);
      const packet = bytes.subarray(at, at + PACKET_BYTES);
      if (header.pid === pid) header.isStart ? takeStart(packet) : takeRest(packet);
      else if (header.pid === 0) mapPid = programMapPid(packet);
      else if (header.pid === mapPid) pid = pidOf(packet, kind);
      sizeBytes += PACKET_BYTES;
    },
    result: () => ({ sizeBytes, frames, head: Buffer.concat(head), tail: Buffer.concat(tail) }),
  };
}

/** stream_type of H.264, and of AAC with ADTS (ISO/IEC 13818-1 table 2-34). */
const STREAM_TYPES = { video: 0x1b, audio: 0x0f } as const satisfies Record<TrackKind, number>;

function pidOf(programMap: Buffer, kind: TrackKind): number {
  const { pid, type } = elementaryStream(programMap);
  if (type !== STREAM_TYPES[kind]) throw new Error(`A stream of type ${type} in place of ${kind}`);
  return pid;
}

function segmentOf({ sizeBytes, frames, head, tail }: Scanned, { kind, near, frameTicks }: TsFile): TsSegment {
  const shown = frames.map(({ shownAt }) => unwrapped(shownAt, near)).toSorted((a, b) => a - b);
  const [first] = shown;
  const last = shown.at(-1);
  if (first === undefined || last === undefined) throw new Error("A segment of MPEG-TS without frames");
  // MPEG-TS has no durations: the last picture is taken to be as long as the one before.
  const pictureTicks = shown.length > 1 ? last - (shown.at(-2) ?? first) : frameTicks;
  const lastTicks = kind === "audio" ? Math.round(secondsOfAdts(tail) * TICKS_PER_SECOND) : pictureTicks;
  return {
    start: first,
    end: last + lastTicks,
    sizeBytes,
    keyframes:
      kind === "audio" ? [] : frames.filter((frame) => frame.isRandomAccess).map((frame) => keyframeOf(frame, near)),
    description: kind === "audio" ? soundIn(head) : pictureIn(head),
  };
}

/** Without the tables in front of it, as RFC 8216 §4.3.3.6 wants: players have them from the segment's beginning. */
const keyframeOf = ({ offset, endOffset, shownAt }: Frame, near: number) => ({
  offset,
  sizeBytes: endOffset - offset,
  start: unwrapped(shownAt, near),
});

function soundIn(head: Buffer): CodecDescription {
  const { codec, ...sound } = soundOfAdts(head);
  return { codec, picture: null, sound };
}

function pictureIn(head: Buffer): CodecDescription {
  const sps = findSps(head);
  if (!sps) throw new Error("A segment of MPEG-TS that does not begin with a keyframe's parameter sets");
  const { codec, ...picture } = pictureOfSps(sps);
  return { codec, picture, sound: null };
}
