// Compares the end of a stream's packets with the duration that the file's header declares. Pure.

import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import { toleranceMs } from "#shared/plan/source/output-length.ts";
import { ownLengthMs } from "#shared/plan/source/track-length.ts";
import type { PacketReading, StreamPackets } from "./read-packets.ts";

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
