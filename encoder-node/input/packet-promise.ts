// Whether a stream's packets reach as far as the file's header promises. Pure.
import type { MediaProbe, ProbedStream } from "#shared/media-probe.ts";
import { toleranceMs } from "#shared/plan/output-length.ts";
import { ownLengthMs } from "#shared/plan/source-tracks.ts";
import type { PacketReading, StreamPackets } from "./packet-times.ts";

/** The demuxer that says so when the file ends before its last element does. */
const REPORTS_ITS_END = "matroska,webm";

/**
 * A header counts from the first packet on, also from those that an edit list hides or that an encoder put before the
 * beginning: the packets may come as far, or be as long. Where a stream says nothing of its own, the file's length counts, which
 * any of its streams may have. A complete Matroska file may promise more: how long its last frame stands is in its header alone.
 */
export function isCutShort(stream: ProbedStream, probe: MediaProbe, { streams, isClean }: PacketReading): boolean {
  if (probe.format.format_name === REPORTS_ITS_END && isClean) return false;
  const ownMs = ownLengthMs(stream);
  const start = Number(stream.start_time ?? probe.format.start_time ?? 0);
  const read = streams.get(stream.index);
  if (ownMs !== null && read) return !keeps(read, start, ownMs / 1000);
  const length = Number(probe.format.duration);
  const fileStart = Number(probe.format.start_time ?? 0);
  return length > 0 && ![...streams.values()].some((each) => keeps(each, fileStart, length));
}

function keeps({ earliest, end }: StreamPackets, start: number, length: number): boolean {
  const least = length - toleranceMs(length * 1000) / 1000;
  return end - start >= least || end - earliest >= least;
}
