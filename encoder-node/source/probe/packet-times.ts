// Reads when the used streams of a source begin and end from their packets, and whether the file holds what its header promises.
import { MAX_PACKET_SECONDS, type MediaProbe, type PacketTimes, type ProbedStream } from "#shared/media/media-probe.ts";
import { timelineStartUs } from "#shared/media/timeline-start.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { listen } from "../frame-index/run-packet-listing.ts";
import { isCutShort } from "./declared-length.ts";
import { ALL_MS } from "./probe-end.ts";

/** What of a stream's packets was read; in seconds on the file's own clock. */
export type StreamPackets = {
  /** Of the first packet, hidden or not. */
  readonly earliest: number;
  readonly first: number;
  readonly from: number;
  readonly last: number;
  readonly end: number;
};

export type PacketReading = {
  readonly streams: ReadonlyMap<number, StreamPackets>;
  /** Whether the demuxer found no fault on its way to the end of the file. */
  readonly isClean: boolean;
};

/** Elementary streams of video: their packets have no times. */
const WITHOUT_TIMES = new Set(["h264", "hevc", "m4v", "mpegvideo"]);
/** Formats whose length ffprobe works out from a bitrate, and in which a seek therefore goes astray. */
const WITHOUT_HEADER = new Set(["mp3", "aac", "ac3", "eac3", "amr"]);
/** Up to this length the whole file is read, which takes no longer than two seeks. */
const SHORT_SECONDS = 60;
/** How much of the end is read of longer ones: more than tracks of a file differ in length as a rule. */
const TAIL_SECONDS = 15;
/** How much of the beginning, from where the timeline begins. */
const HEAD_SECONDS = 1;

/**
 * The probe with `packets` on the streams that are used. Of a long file with an index only the beginning and the end are
 * read, of others all packets; nothing is decoded. What cannot be read stays out. Throws as `listen` does.
 */
export async function withPacketTimes(
  ffprobe: Tool,
  path: string,
  probe: MediaProbe,
  signal: AbortSignal,
): Promise<MediaProbe> {
  const format = probe.format.format_name ?? "";
  const { video, audio } = chooseTracks(probe);
  const indexes = new Set([video, audio].flatMap((track) => (track ? [track.streamIndex] : [])));
  const used = probe.streams.filter(({ index }) => indexes.has(index));
  if (used.length === 0 || WITHOUT_TIMES.has(format)) return probe;
  const source: SourceFile = { ffprobe, path, startSeconds: timelineStartUs(probe, used) / 1e6 };
  const reading = (await readTail(source, probe, used, signal)) ?? (await readPackets(source, [], signal));
  const streams = probe.streams.map((stream): ProbedStream => {
    const read = indexes.has(stream.index) ? reading.streams.get(stream.index) : undefined;
    if (!read || !Number.isFinite(read.end) || Math.abs(read.earliest) + Math.abs(read.end) > MAX_PACKET_SECONDS)
      return stream;
    const isEstimate = WITHOUT_HEADER.has(format);
    const times = timesOf(read);
    const packets: PacketTimes =
      isEstimate || !isCutShort(stream, probe, reading) ? times : { ...times, cut_short: true };
    return { ...stream, packets };
  });
  return { ...probe, streams };
}

/** Clocks of containers are no finer than microseconds, as ffprobe prints them. */
const rounded = (seconds: number): number => Math.round(seconds * 1e6) / 1e6;

const timesOf = ({ first, from, last, end }: StreamPackets): PacketTimes => ({
  ...{ first: rounded(first), last: rounded(last), end: rounded(end) },
  // Where all begins before the timeline nothing can be said of its beginning.
  from: rounded(Number.isFinite(from) ? from : last),
});

type SourceFile = { readonly ffprobe: Tool; readonly path: string; readonly startSeconds: number };

/** Null when the file is short, says no length, or when not every stream was met near its end. */
async function readTail(
  source: SourceFile,
  probe: MediaProbe,
  used: readonly ProbedStream[],
  signal: AbortSignal,
): Promise<PacketReading | null> {
  const fileStart = Number(probe.format.start_time ?? 0);
  const fileEnd = fileStart + Number(probe.format.duration);
  const { startSeconds } = source;
  if (WITHOUT_HEADER.has(probe.format.format_name ?? "") || !(fileEnd - startSeconds > SHORT_SECONDS)) return null;
  const { video, audio } = chooseTracks(probe);
  const ends = [video, audio].flatMap((track) => track?.endMs ?? []).map((endMs) => startSeconds + endMs / 1000);
  const from = Math.min(fileEnd, ...ends) - TAIL_SECONDS;
  if (from <= startSeconds + HEAD_SECONDS) return null;
  const intervals = `%${startSeconds + HEAD_SECONDS},${from}%${ALL_MS / 1000}`;
  const select = used.length === 1 ? ["-select_streams", String(used[0]?.index)] : [];
  const reading = await readPackets(source, [...select, "-read_intervals", intervals], signal);
  const isReached = used.every(({ index }) => (reading.streams.get(index)?.last ?? Number.NEGATIVE_INFINITY) >= from);
  return reading.isClean && isReached ? reading : null;
}

async function readPackets(
  { ffprobe, path, startSeconds }: SourceFile,
  options: readonly string[],
  signal: AbortSignal,
): Promise<PacketReading> {
  const entries = "packet=stream_index,pts_time,dts_time,duration_time,flags";
  const argv = [...options, "-show_entries", entries, "-of", "compact"];
  const streams = new Map<number, StreamPackets>();
  let rest = "";
  const isClean = await listen({ ffprobe, source: { path }, argv }, signal, (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) takeLine(line, startSeconds, streams);
    return true;
  });
  return { streams, isClean };
}

const PACKET = /^packet\|stream_index=(\d+)\|pts_time=([^|]+)\|dts_time=([^|]+)\|duration_time=([^|]+)\|flags=([^|]*)/;
/** Half a tick of the coarsest clock in use, of milliseconds: what began before by less began with the timeline. */
const ROUNDING_SECONDS = 0.0005;

function takeLine(line: string, startSeconds: number, streams: Map<number, StreamPackets>): void {
  const [, stream, pts, dts, duration, flags = ""] = PACKET.exec(line) ?? [];
  const begin = [pts, dts].map(Number).find(Number.isFinite);
  if (stream === undefined || begin === undefined) return;
  const known = streams.get(Number(stream)) ?? NOTHING;
  const earliest = Math.min(known.earliest, begin);
  // Decoded for those that follow, and not shown.
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

const NOTHING: StreamPackets = {
  ...{ earliest: Number.POSITIVE_INFINITY, first: Number.POSITIVE_INFINITY, from: Number.POSITIVE_INFINITY },
  ...{ last: Number.NEGATIVE_INFINITY, end: Number.NEGATIVE_INFINITY },
};
