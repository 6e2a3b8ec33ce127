// Adds the start and end of the used streams' packets to a probe, and marks files that are shorter than their header
// declares.
import { MAX_PACKET_SECONDS, type MediaProbe, type PacketTimes, type ProbedStream } from "#shared/media/media-probe.ts";
import { mayRestart, timelineStartUs } from "#shared/media/timeline-start.ts";
import { toleranceMs } from "#shared/plan/source/output-length.ts";
import { chooseTracks, usedStreams } from "#shared/plan/source/source-tracks.ts";
import { ownLengthMs } from "#shared/plan/source/track-length.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import type { LocalFile } from "../frame-index/run-packet-listing.ts";
import { ALL_MS, type PacketReading, readPackets, type SourceFile, type StreamPackets } from "./read-packets.ts";

/** Elementary video streams: their packets have no timestamps. */
const WITHOUT_TIMES = new Set(["h264", "hevc", "m4v", "mpegvideo"]);
/** Formats whose duration ffprobe estimates from a bitrate, so that a seek is inexact. */
const WITHOUT_HEADER = new Set(["mp3", "aac", "ac3", "eac3", "amr"]);
/** Up to this duration the whole file is read, which takes no longer than two seeks. */
const SHORT_SECONDS = 60;
/** Seconds that are read at the end of longer files: usually more than the difference of the tracks' ends. */
const TAIL_SECONDS = 15;
/** Seconds that are read from the start of the timeline. */
const HEAD_SECONDS = 1;

/**
 * Returns the probe with `packets` in the used streams. Reads only the start and the end of a long file with an index,
 * and all packets of other files; decodes nothing. A used stream or audio without any packet is marked as `empty`, and
 * another stream may be used then. Streams whose packets have no timestamps stay unchanged. Throws as
 * `runPacketListing` does.
 */
export async function withPacketTimes(
  ffprobe: Tool,
  file: LocalFile,
  probe: MediaProbe,
  signal: AbortSignal,
): Promise<MediaProbe> {
  const format = probe.format.format_name ?? "";
  const used = usedStreams(probe);
  const indexes = new Set(used.map(({ index }) => index));
  if (used.length === 0 || WITHOUT_TIMES.has(format)) return probe;
  const startSeconds = timelineStartUs(probe, used) / 1e6;
  const source: SourceFile = { ...file, ffprobe, startSeconds, mayRestart: mayRestart(probe), used: indexes };
  const tail = await readTail(source, probe, used, signal);
  const reading = tail ?? (await readPackets(source, [], signal));
  const isEmpty = (stream: ProbedStream): boolean => isNeeded(stream, used) && !reading.present.has(stream.index);
  // A file without any readable packet is damaged.
  const hasPackets = reading.present.size > 0;
  const marked = hasPackets
    ? probe.streams.map((stream) => (isEmpty(stream) ? { ...stream, empty: true as const } : stream))
    : probe.streams;
  if (hasPackets && used.some(isEmpty)) return withPacketTimes(ffprobe, file, { ...probe, streams: marked }, signal);
  const streams = marked.map((stream): ProbedStream => {
    const read = indexes.has(stream.index) ? reading.streams.get(stream.index) : undefined;
    if (!read || !Number.isFinite(read.end) || Math.abs(read.earliest) + Math.abs(read.end) > MAX_PACKET_SECONDS)
      return stream;
    const isShort = !WITHOUT_HEADER.has(format) && !source.mayRestart && isTruncated(stream, probe, reading);
    const packets: PacketTimes = {
      ...timesOf(read),
      ...(tail ? {} : { count: read.count }),
      ...(isShort ? { ends_early: true as const } : {}),
      ...(reading.hasRestarts ? { restarts: true as const } : {}),
      ...(source.mayRestart || read.fallsBackAt === null ? {} : { falls_back_at: rounded(read.fallsBackAt) }),
    };
    return { ...stream, packets };
  });
  return { ...probe, streams };
}

/** True for streams that outputs may request: used streams, and all audio. */
const isNeeded = (stream: ProbedStream, used: readonly ProbedStream[]): boolean =>
  used.includes(stream) || (stream.codec_type === "audio" && !stream.empty);

/** ffprobe prints timestamps in microseconds, and containers have no finer clocks. */
const rounded = (seconds: number): number => Math.round(seconds * 1e6) / 1e6;

const timesOf = ({ first, from, last, end }: StreamPackets): PacketTimes => ({
  first: rounded(first),
  last: rounded(last),
  end: rounded(end),
  // Infinite when all packets precede the timeline: then its start is unknown.
  from: rounded(Number.isFinite(from) ? from : last),
});

/**
 * Null when the file is short, declares no duration, has no packets of some used stream near its end, or of some audio
 * in what was read. Also null where the
 * clock may restart: a seek lands anywhere then, and the end of the file need not be the end of its times.
 */
async function readTail(
  source: SourceFile,
  probe: MediaProbe,
  used: readonly ProbedStream[],
  signal: AbortSignal,
): Promise<PacketReading | null> {
  const fileStart = Number(probe.format.start_time ?? 0);
  const fileEnd = fileStart + Number(probe.format.duration);
  const { startSeconds } = source;
  if (source.mayRestart) return null;
  if (WITHOUT_HEADER.has(probe.format.format_name ?? "") || !(fileEnd - startSeconds > SHORT_SECONDS)) return null;
  const { video, audio } = chooseTracks(probe);
  const tracks = [video, audio].filter((track) => track && source.used.has(track.streamIndex));
  const ends = tracks.flatMap((track) => track?.endMs ?? []).map((endMs) => startSeconds + endMs / 1000);
  const from = Math.min(fileEnd, ...ends) - TAIL_SECONDS;
  if (from <= startSeconds + HEAD_SECONDS) return null;
  const intervals = `%${startSeconds + HEAD_SECONDS},${from}%${ALL_MS / 1000}`;
  const needed = probe.streams.filter((stream) => isNeeded(stream, used));
  const select = needed.length === 1 ? ["-select_streams", String(needed[0]?.index)] : [];
  const reading = await readPackets(source, [...select, "-read_intervals", intervals], signal);
  const isReached = used.every(({ index }) => (reading.streams.get(index)?.last ?? Number.NEGATIVE_INFINITY) >= from);
  const isPresent = needed.every(({ index }) => reading.present.has(index));
  return reading.isClean && isReached && isPresent ? reading : null;
}

// Compares the end of a stream's packets with the duration that the file's header declares. Pure.

/** Demuxers that report an error when the file ends before its last element or sample. */
const REPORT_MISSING_BYTES: ReadonlySet<string> = new Set(["matroska,webm", "mov,mp4,m4a,3gp,3g2,mj2"]);

/**
 * True if a stream is shorter than declared. A header counts from the first packet, including packets that an edit list
 * hides or that an encoder put before the start. So either the end or the duration of the packets must match. If the
 * stream declares no duration, the file's duration counts, which any of its streams may have. Complete files may
 * declare more: Matroska stores the duration of the last frame only in the header, MP4 durations follow the decoding
 * order, and AVI counts the time before late audio. Where the demuxer reports no missing bytes, a file with later
 * packets of any stream has not lost its end.
 */
export function isTruncated(stream: ProbedStream, probe: MediaProbe, { streams, isClean }: PacketReading): boolean {
  const reports = REPORT_MISSING_BYTES.has(probe.format.format_name ?? "");
  if (isClean && reports) return false;
  const ownMs = ownLengthMs(stream);
  const start = Number(stream.start_time ?? probe.format.start_time ?? 0);
  const read = streams.get(stream.index);
  if (ownMs !== null && read) {
    const candidates = reports ? [read] : [...streams.values()];
    return !candidates.some((each) => reaches(each, start, ownMs / 1000));
  }
  const length = Number(probe.format.duration);
  const fileStart = Number(probe.format.start_time ?? 0);
  return length > 0 && ![...streams.values()].some((each) => reaches(each, fileStart, length));
}

function reaches({ earliest, end }: StreamPackets, start: number, length: number): boolean {
  const minimumRate = length - toleranceMs(length * 1000) / 1000;
  return end - start >= minimumRate || end - earliest >= minimumRate;
}
