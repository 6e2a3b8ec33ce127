// Where on a file's own clock the timeline of a source begins, as ffmpeg sees it.
import type { MediaProbe, ProbedStream } from "./media-probe.ts";

/** Demuxers, by ffprobe's names, whose timeline ffmpeg begins at the first stream that is used, if that is after the file's start. */
const BY_USED_STREAMS: ReadonlySet<string> = new Set(["mpegts"]);

export const beginsWithUsedStreams = ({ format }: MediaProbe): boolean => BY_USED_STREAMS.has(format.format_name ?? "");

/** In µs on the clock of `start_time`; `used` are the streams that are read. 0 where the file says nothing. */
export function timelineStartUs(probe: MediaProbe, used: readonly ProbedStream[]): number {
  const fileUs = microseconds(probe.format.start_time);
  const starts = used.flatMap((stream) => microseconds(stream.start_time) ?? []);
  if (fileUs === null || starts.length === 0 || !beginsWithUsedStreams(probe)) return fileUs ?? 0;
  return Math.max(fileUs, Math.min(...starts));
}

/** Of ffprobe's decimal seconds; null for what is none. */
export function microseconds(text: unknown): number | null {
  const value = typeof text === "string" ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? Math.round(value * 1e6) : null;
}
