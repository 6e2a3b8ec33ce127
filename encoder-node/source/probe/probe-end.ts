// Finds the real ends of the tracks of a file, whatever its header declares.
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { listPackets } from "../frame-index/run-packet-listing.ts";

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
