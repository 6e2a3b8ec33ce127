// Reads finished MPEG-TS segments of a single track: their times, keyframes and codec.
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { audioOfAdts, secondsOfAdts } from "../../codecs/aac.ts";
import type { CodecAudio, CodecDescription } from "../../codecs/codec-strings.ts";
import { audioOfAc3, secondsOfAc3 } from "../../codecs/dolby.ts";
import { describeSps, findSps } from "../../codecs/h264-sps.ts";
import type { Piece } from "../../codecs/segment.ts";
import { type StreamPacket, visitStream } from "./stream-packets.ts";
import { isRandomAccess, PACKET_BYTES, payloadOf, pesStart, TICKS_PER_SECOND, unwrapped } from "./ts-packets.ts";

export type TsSegment = Piece & { readonly description: CodecDescription };

export type TsFile = {
  readonly path: string;
  readonly kind: TrackKind;
  /** A time close to its first frame's time, in ticks. */
  readonly near: number;
  /** The duration of its frame in ticks, if the segment has a single frame. */
  readonly frameTicks: number;
};

/** stream_type of H.264 (ISO/IEC 13818-1 table 2-34). */
const H264 = 0x1b;

type AudioReader = { readonly audioOf: (frame: Buffer) => CodecAudio; readonly secondsOf: (frames: Buffer) => number };

/** Audio by stream_type: AAC with ADTS (ibid.), and AC-3 (ATSC A/53-3 §6.7.1). */
const AUDIOS: ReadonlyMap<number, AudioReader> = new Map([
  [0x0f, { audioOf: audioOfAdts, secondsOf: secondsOfAdts }],
  [0x81, { audioOf: audioOfAc3, secondsOf: secondsOfAc3 }],
]);

/** Reads a segment from its file. Throws when the file differs from ffmpeg's files for a single track of this kind. */
export async function readTsSegment(file: TsFile): Promise<TsSegment> {
  const scan = scanFrames(file.kind);
  const { stream, sizeBytes } = await visitStream(file.path, scan.visit);
  const audio = AUDIOS.get(stream.type);
  if (file.kind === "audio" ? !audio : stream.type !== H264) {
    throw new Error(`MPEG-TS stream of type ${stream.type} instead of ${file.kind}`);
  }
  return segmentOf({ ...scan.result(), sizeBytes }, file, audio);
}

/** A PES packet. ffmpeg puts a single video frame or several audio frames into each packet. */
type Frame = {
  /** Start of its first packet and end of its last packet, in bytes. */
  readonly offset: number;
  endOffset: number;
  /** Modulo 2^33. */
  readonly shownAt: number;
  readonly isRandomAccess: boolean;
};

type Scanned = {
  readonly frames: readonly Frame[];
  /** The start of the first frame. */
  readonly head: Buffer;
  /** The content of the last PES packet, for audio only. */
  readonly tail: Buffer;
};

/** Enough bytes of the first frame to contain the parameter sets before its image data. */
const HEAD_BYTES = 16 * 1024;

function scanFrames(kind: TrackKind): { visit(packet: StreamPacket): void; result(): Scanned } {
  const frames: Frame[] = [];
  const head: Buffer[] = [];
  let tail: Buffer[] = [];

  const takeStart = (packet: Buffer, offset: number): void => {
    const { shownAt, data } = pesStart(payloadOf(packet));
    if (frames.length === 0) head.push(Buffer.from(data));
    if (kind === "audio") tail = [Buffer.from(data)];
    frames.push({ offset, endOffset: offset + PACKET_BYTES, shownAt, isRandomAccess: isRandomAccess(packet) });
  };
  const takeRest = (packet: Buffer, offset: number): void => {
    const frame = frames.at(-1);
    if (frame) frame.endOffset = offset + PACKET_BYTES;
    if (kind === "audio") tail.push(Buffer.from(payloadOf(packet)));
    if (frames.length === 1 && head.length * PACKET_BYTES < HEAD_BYTES) head.push(Buffer.from(payloadOf(packet)));
  };
  return {
    visit: ({ packet, offset, isStart }) => (isStart ? takeStart(packet, offset) : takeRest(packet, offset)),
    result: () => ({ frames, head: Buffer.concat(head), tail: Buffer.concat(tail) }),
  };
}

function segmentOf(
  { sizeBytes, frames, head, tail }: Scanned & { readonly sizeBytes: number },
  { near, frameTicks }: TsFile,
  audio: AudioReader | undefined,
): TsSegment {
  const timestamps = frames.map(({ shownAt }) => unwrapped(shownAt, near)).toSorted((a, b) => a - b);
  const [first] = timestamps;
  const last = timestamps.at(-1);
  if (first === undefined || last === undefined) throw new Error("MPEG-TS segment without frames");
  // MPEG-TS has no durations: the last video frame is assumed to be as long as the previous frame.
  const videoTicks = timestamps.length > 1 ? last - (timestamps.at(-2) ?? first) : frameTicks;
  const lastTicks = audio ? Math.round(audio.secondsOf(tail) * TICKS_PER_SECOND) : videoTicks;
  return {
    start: first,
    end: last + lastTicks,
    sizeBytes,
    keyframes: audio ? [] : frames.filter((frame) => frame.isRandomAccess).map((frame) => keyframeOf(frame, near)),
    description: audio ? describeAudio(audio.audioOf(head)) : describeVideo(head),
  };
}

/**
 * Excludes the tables before the keyframe (RFC 8216 §4.3.3.6): players have read the tables at the start of the
 * segment.
 */
const keyframeOf = ({ offset, endOffset, shownAt }: Frame, near: number) => ({
  offset,
  sizeBytes: endOffset - offset,
  start: unwrapped(shownAt, near),
});

const describeAudio = ({ codec, channels, sampleRateHz }: CodecAudio): CodecDescription => ({
  codec,
  video: null,
  audio: { channels, sampleRateHz },
});

function describeVideo(head: Buffer): CodecDescription {
  const sps = findSps(head);
  if (!sps) throw new Error("MPEG-TS segment does not start with a keyframe's parameter sets");
  const { codec, ...video } = describeSps(sps);
  return { codec, video, audio: null };
}
