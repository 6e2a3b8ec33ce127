// Finds the real end of the packets of a file, whatever its header declares.
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { runPacketListingByLine } from "../frame-index/run-packet-listing.ts";

/** Packets of all streams of a file, or of one. Timestamps in ms on the file's own timeline. */
export type PacketRange = { readonly fromMs: number; readonly toMs?: number; readonly streamIndex?: number };

/**
 * After the end of any file. Without an end ffprobe reads uninitialized memory, and may stop at the first packet,
 * depending on its other arguments.
 */
export const ALL_MS = 1e11;

/**
 * Returns the end of the last packet in a range of a local file, in ms; null without readable packets. AVI has no
 * presentation timestamps. The duration of an MP4 file is too short when the last frame comes long after its
 * predecessors: it adds up decoding timestamps, which trail behind with B-frames. Throws as `runPacketListing` does.
 */
export async function lastPacketEndMs(
  ffprobe: Tool,
  path: string,
  { fromMs, toMs, streamIndex }: PacketRange,
  signal: AbortSignal,
): Promise<number | null> {
  const argv = [
    ...(streamIndex === undefined ? [] : ["-select_streams", String(streamIndex)]),
    ...["-read_intervals", `${fromMs / 1000}%${(toMs ?? ALL_MS) / 1000}`],
    ...["-show_entries", "packet=pts_time,dts_time,duration_time", "-of", "compact"],
  ];
  // MPEG timestamps may all be negative.
  let last = Number.NEGATIVE_INFINITY;
  // A file of many hours has millions of packets: none is kept. If one cannot be read, those before it count.
  await runPacketListingByLine({ ffprobe, source: { path }, argv }, signal, (line) => {
    last = Math.max(last, endOf(line) ?? last);
    return true;
  });
  return last === Number.NEGATIVE_INFINITY ? null : last * 1000;
}

const PACKET = /^packet\|pts_time=([^|]+)\|dts_time=([^|]+)\|duration_time=([^|]+)/;

/** In seconds; null for a line that is not a packet with a timestamp. */
function endOf(line: string): number | null {
  const [, pts, dts, duration] = PACKET.exec(line) ?? [];
  const start = [pts, dts].map(Number).find(Number.isFinite);
  return start === undefined ? null : start + (Number(duration) || 0);
}
