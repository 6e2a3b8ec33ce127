// Whether a stream's packets reach as far as the file's header promises. Pure.
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import { toleranceMs } from "#shared/plan/source/output-length.ts";
import { ownLengthMs } from "#shared/plan/source/source-tracks.ts";
import type { PacketReading, StreamPackets } from "./packet-times.ts";

/** Demuxers that say so when the file ends before its last element or sample does. */
const REPORT_MISSING_BYTES: ReadonlySet<string> = new Set(["matroska,webm", "mov,mp4,m4a,3gp,3g2,mj2"]);

/**
 * A header counts from the first packet on, also from those that an edit list hides or that an encoder put before the
 * beginning: the packets may come as far, or be as long. Where a stream says nothing of its own, the file's length counts, which
 * any of its streams may have. A complete file may promise more: in Matroska how long the last frame stands is in the header
 * alone, and in MP4 lengths go by the order of decoding.
 */
export function isCutShort(stream: ProbedStream, probe: MediaProbe, { streams, isClean }: PacketReading): boolean {
  if (isClean && REPORT_MISSING_BYTES.has(probe.format.format_name ?? "")) return false;
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
