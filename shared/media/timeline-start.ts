// The start of the timeline of a source on the clock of the file, as ffmpeg determines it.
import type { MediaProbe, ProbedStream } from "./media-probe.ts";

/** Demuxers, by ffprobe's names, with the flag AVFMT_TS_DISCONT: their clock may restart or jump within a file. */
const WITH_RESTARTS: ReadonlySet<string> = new Set(["mpegts", "mpeg", "ogg"]);

/**
 * True if ffmpeg expects the clock of the file to restart. It then closes the gaps as it reads (packet-clock.ts), and
 * starts the timeline at the first stream that is used, if that starts after the file.
 */
export const mayRestart = ({ format }: MediaProbe): boolean => WITH_RESTARTS.has(format.format_name ?? "");

/** In µs on the clock of `start_time`; `used` are the streams that are read. 0 if the file has no start time. */
export function timelineStartUs(probe: MediaProbe, used: readonly ProbedStream[]): number {
  const fileUs = microseconds(probe.format.start_time);
  const starts = used.flatMap((stream) => microseconds(stream.start_time) ?? []);
  if (fileUs === null || starts.length === 0 || !mayRestart(probe)) return fileUs ?? 0;
  return Math.max(fileUs, Math.min(...starts));
}

/** Converts ffprobe's decimal seconds; null if the text is not a number. */
export function microseconds(text: unknown): number | null {
  const value = typeof text === "string" ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? Math.round(value * 1e6) : null;
}
