// Reads when the packets of a file start and end, by stream.
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { type LocalFile, runPacketListingByLine } from "../frame-index/run-packet-listing.ts";

/** Timestamps of a stream's packets, in seconds on the file's own clock. */
export type StreamPackets = {
  /** The first packet, hidden or not. */
  readonly earliest: number;
  /** The first packet that is shown. */
  readonly first: number;
  /** The first shown packet on the timeline, which may start later than the stream. */
  readonly from: number;
  readonly last: number;
  readonly end: number;
};

export type PacketReading = {
  readonly streams: ReadonlyMap<number, StreamPackets>;
  /** Whether the demuxer reported no error. */
  readonly isClean: boolean;
};

export type SourceFile = LocalFile & { readonly ffprobe: Tool; readonly startSeconds: number };

/** `options` select packets. Throws as `runPacketListing` does. */
export async function readPackets(
  { ffprobe, path, isOutline, startSeconds }: SourceFile,
  options: readonly string[],
  signal: AbortSignal,
): Promise<PacketReading> {
  const entries = "packet=stream_index,pts_time,dts_time,duration_time,flags";
  const argv = [...options, "-show_entries", entries, "-of", "compact"];
  const streams = new Map<number, StreamPackets>();
  const isClean = await runPacketListingByLine({ ffprobe, source: { path, isOutline }, argv }, signal, (line) => {
    addPacket(line, startSeconds, streams);
    return true;
  });
  return { streams, isClean };
}

const PACKET = /^packet\|stream_index=(\d+)\|pts_time=([^|]+)\|dts_time=([^|]+)\|duration_time=([^|]+)\|flags=([^|]*)/;
/**
 * Half a tick of the coarsest clock in use (milliseconds): a packet that starts earlier by less starts with the
 * timeline.
 */
const ROUNDING_SECONDS = 0.0005;

function addPacket(line: string, startSeconds: number, streams: Map<number, StreamPackets>): void {
  const [, stream, pts, dts, duration, flags = ""] = PACKET.exec(line) ?? [];
  const begin = [pts, dts].map(Number).find(Number.isFinite);
  if (stream === undefined || begin === undefined) return;
  const known = streams.get(Number(stream)) ?? NO_PACKETS;
  const earliest = Math.min(known.earliest, begin);
  // Decoded for later frames, and not shown.
  const isHidden = flags.includes("D");
  const isInTime = begin >= startSeconds - ROUNDING_SECONDS;
  streams.set(Number(stream), {
    earliest,
    first: isHidden ? known.first : Math.min(known.first, begin),
    from: isHidden || !isInTime ? known.from : Math.min(known.from, begin),
    last: isHidden ? known.last : Math.max(known.last, begin),
    end: isHidden ? known.end : Math.max(known.end, begin + (Number(duration) || 0)),
  });
}

const NO_PACKETS: StreamPackets = {
  earliest: Number.POSITIVE_INFINITY,
  first: Number.POSITIVE_INFINITY,
  from: Number.POSITIVE_INFINITY,
  last: Number.NEGATIVE_INFINITY,
  end: Number.NEGATIVE_INFINITY,
};
