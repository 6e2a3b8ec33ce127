// Start of a source's timeline on the file's clock, as ffmpeg determines it.
import type { MediaProbe, ProbedStream } from "./media-probe.ts";

/** Demuxers (ffprobe's names) with the flag AVFMT_TS_DISCONT: their clock may restart or jump within a file. */
const WITH_RESTARTS: ReadonlySet<string> = new Set(["mpegts", "mpeg", "ogg"]);

/**
 * True if ffmpeg expects the file's clock to restart. ffmpeg then closes gaps while it reads (packet-clock.ts). It
 * starts the timeline at the first used stream if this stream starts after the file.
 */
export const mayRestart = ({ format }: MediaProbe): boolean => WITH_RESTARTS.has(format.format_name ?? "");

/**
 * Returns the start in µs on the clock of `start_time`; 0 if the file has no start time. `used`: streams that are read.
 */
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
