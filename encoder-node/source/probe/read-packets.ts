// Reads the start and end of a file's packets, by stream, whatever its header declares.
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { type ListedPacket, type LocalFile, listPackets } from "../frame-index/run-packet-listing.ts";
import { PacketClock } from "./packet-clock.ts";

/** Timestamps of a stream's packets, in seconds on the file's own clock, or on the clock of its first part. */
export type StreamPackets = {
  /** The first packet, hidden or not. */
  readonly earliest: number;
  /** The first packet that is shown. */
  readonly first: number;
  /** The first shown packet on the timeline, which may start later than the stream. */
  readonly from: number;
  readonly last: number;
  readonly end: number;
  /** Number of shown packets. */
  readonly count: number;
  /** The latest decoding time. */
  readonly decoded: number;
  /** Where decoding times first fall back by more than a second; null: nowhere. */
  readonly fallsBackAt: number | null;
};

export type PacketReading = {
  /** Only streams that have packets with timestamps. */
  readonly streams: ReadonlyMap<number, StreamPackets>;
  /** Indexes of all streams that have packets. */
  readonly present: ReadonlySet<number>;
  /** True if the demuxer reported no error. */
  readonly isClean: boolean;
  /** True if the clock of the file restarts or jumps, so that timestamps are not positions in the file. */
  readonly hasRestarts: boolean;
};

export type SourceFile = LocalFile & {
  readonly ffprobe: Tool;
  readonly startSeconds: number;
  /** True if ffmpeg expects the clock to restart. */
  readonly mayRestart: boolean;
  /** Indexes of the streams that a run reads. */
  readonly used: ReadonlySet<number>;
};

/**
 * `options` select packets. If the clock restarts, the times depend on the streams that a run reads. A stream's end is
 * then the earlier end of two runs: a run that reads all used streams, and a run that reads the stream alone. Throws as
 * `runPacketListing` does.
 */
export async function readPackets(
  { ffprobe, path, isOutline, startSeconds, mayRestart, used }: SourceFile,
  options: readonly string[],
  signal: AbortSignal,
): Promise<PacketReading> {
  const together = new PacketClock(mayRestart);
  const alone = new Map<number, PacketClock>();
  const streams = new Map<number, StreamPackets>();
  const ofAlone = new Map<number, StreamPackets>();
  const present = new Set<number>();
  const listing = { ffprobe, source: { path, isOutline }, argv: options };
  const isClean = await listPackets(listing, signal, (packet) => {
    present.add(packet.stream);
    const clock = alone.get(packet.stream) ?? new PacketClock(mayRestart);
    alone.set(packet.stream, clock);
    const begin = clock.presented(packet);
    addPacket({ ...packet, begin }, startSeconds, ofAlone);
    addPacket(
      { ...packet, begin: used.has(packet.stream) ? together.presented(packet) : begin },
      startSeconds,
      streams,
    );
  });
  const least = [...streams].map(([index, read]): [number, StreamPackets] => {
    const { last, end } = ofAlone.get(index) ?? read;
    return [index, { ...read, last: Math.min(read.last, last), end: Math.min(read.end, end) }];
  });
  const clocks = [together, ...[...used].flatMap((index) => alone.get(index) ?? [])];
  const hasRestarts = mayRestart && clocks.some((clock) => clock.hasRestarted);
  return { streams: new Map(least), present, isClean, hasRestarts };
}

/**
 * Half a tick of the coarsest clock in use (milliseconds): a packet that starts earlier by less starts with the
 * timeline.
 */
const ROUNDING_SECONDS = 0.0005;
const FALL_SECONDS = 1;

function addPacket(
  { stream, dts, begin, duration, flags }: ListedPacket & { readonly begin: number | null },
  startSeconds: number,
  streams: Map<number, StreamPackets>,
): void {
  if (begin === null) return;
  const known = streams.get(stream) ?? NO_PACKETS;
  const common = {
    earliest: Math.min(known.earliest, begin),
    decoded: Math.max(known.decoded, dts ?? known.decoded),
    fallsBackAt: known.fallsBackAt ?? (dts !== null && dts < known.decoded - FALL_SECONDS ? known.end : null),
  };
  const isHidden = flags.includes("D");
  if (isHidden) return void streams.set(stream, { ...known, ...common });
  streams.set(stream, {
    ...common,
    first: Math.min(known.first, begin),
    from: begin >= startSeconds - ROUNDING_SECONDS ? Math.min(known.from, begin) : known.from,
    last: Math.max(known.last, begin),
    end: Math.max(known.end, begin + duration),
    count: known.count + 1,
  });
}

const NO_PACKETS: StreamPackets = {
  earliest: Number.POSITIVE_INFINITY,
  first: Number.POSITIVE_INFINITY,
  from: Number.POSITIVE_INFINITY,
  last: Number.NEGATIVE_INFINITY,
  end: Number.NEGATIVE_INFINITY,
  count: 0,
  decoded: Number.NEGATIVE_INFINITY,
  fallsBackAt: null,
};

// The ends of tracks.

/** Packets from this time on, in ms on the file's own timeline; left out: all. */
export type PacketRange = { readonly fromMs?: number };

/**
 * After the end of any file. Without an end ffprobe reads uninitialized memory, and may stop at the first packet,
 * depending on its other arguments.
 */
export const ALL_MS = 1e11;

/**
 * Returns the end of the last packet of each stream, by index, in ms on the file's own timeline. Streams without
 * readable packets in the range are left out. AVI has no presentation timestamps. The duration of an MP4 file is too
 * short when the last frame comes long after its predecessors. It adds up decoding timestamps, which trail behind with
 * B-frames. Throws as `runPacketListing` does.
 */
export async function packetEndsMs(
  ffprobe: Tool,
  path: string,
  { fromMs }: PacketRange,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const argv = fromMs === undefined ? [] : ["-read_intervals", `${fromMs / 1000}%${ALL_MS / 1000}`];
  const ends = new Map<number, number>();
  // A file of many hours has millions of packets, so none is kept. The packets before an unreadable packet count.
  await listPackets({ ffprobe, source: { path }, argv }, signal, ({ stream, pts, dts, duration }) => {
    const start = pts ?? dts;
    if (start === null) return;
    const endMs = (start + duration) * 1000;
    // MPEG timestamps may all be negative.
    ends.set(stream, Math.max(endMs, ends.get(stream) ?? endMs));
  });
  return ends;
}
