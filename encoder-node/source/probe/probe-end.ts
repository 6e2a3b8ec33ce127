// Where the packets of a file really end, whatever its header says.
import type { Tool } from "../../ffmpeg/build/locate.ts";
import { listen } from "../frame-index/run-packet-listing.ts";

/** Packets of a file, of all its streams or one; times in ms on the file's own line. */
export type PacketRange = { readonly fromMs: number; readonly toMs?: number; readonly streamIndex?: number };

/**
 * Behind the end of any file. With no end given ffprobe looks at memory that it has not set, and stops at the first packet or
 * not, as its other arguments happen to lie there.
 */
export const ALL_MS = 1e11;

/**
 * Where the last packets of a range of a local file end, in ms; null when there are none, or none that can be read. AVI has no
 * times of presentation. mp4's own duration falls short when the last frame comes long after its predecessors: it adds
 * decoding times up, which trail behind with B-frames. Throws as `listen` does.
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
  // Clocks of MPEG may be negative from beginning to end.
  let last = Number.NEGATIVE_INFINITY;
  let rest = "";
  // A file of many hours has millions of packets: none is kept. Where one cannot be read, those before it count.
  await listen({ ffprobe, source: { path }, argv }, signal, (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) last = Math.max(last, endOf(line) ?? last);
    return true;
  });
  return last === Number.NEGATIVE_INFINITY ? null : last * 1000;
}

const PACKET = /^packet\|pts_time=([^|]+)\|dts_time=([^|]+)\|duration_time=([^|]+)/;

/** In seconds; null for what is no packet with a time. */
function endOf(line: string): number | null {
  const [, pts, dts, duration] = PACKET.exec(line) ?? [];
  const start = [pts, dts].map(Number).find(Number.isFinite);
  return start === undefined ? null : start + (Number(duration) || 0);
}
