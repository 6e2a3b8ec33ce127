// Where on its own clock the time line of a source begins, in ffmpeg's eyes.
import type { MediaProbe, ProbedStream } from "../media-probe.ts";
import { chooseTracks } from "./source-tracks.ts";

/** Demuxers, by ffprobe's names, whose line ffmpeg begins at the first stream that is used, if that is after the file's start. */
const BY_USED_STREAMS: ReadonlySet<string> = new Set(["mpegts"]);
/** Of MPEG's clock, which all streams of such files have. */
const TICKS_PER_US = 0.09;

/**
 * How much later than the file (its `start_time`) the line of a run begins that reads the chosen picture and sound, in µs.
 * Such a run is the measure for those that read one of both.
 */
export function lineStartUs(probe: MediaProbe): number {
  if (!BY_USED_STREAMS.has(probe.format.format_name ?? "")) return 0;
  const fileUs = micros(probe.format.start_time);
  const starts = usedStreams(probe).flatMap((stream) => micros(stream.start_time) ?? []);
  return fileUs === null || starts.length === 0 ? 0 : Math.max(0, Math.min(...starts) - fileUs);
}

/**
 * Options of the source for runs that read only some of the streams that make the line: ffmpeg would begin it at those
 * ("Correcting start time" in ffmpeg_demux.c), so it is set from the file's own clock. None where that does not happen.
 */
export function lineArguments(probe: MediaProbe): string[] {
  if (!BY_USED_STREAMS.has(probe.format.format_name ?? "")) return [];
  const startUs = (micros(probe.format.start_time) ?? 0) + lineStartUs(probe);
  return ["-copyts", "-itsoffset", (-(startUs + harmlessUs(startUs)) / 1e6).toFixed(6)];
}

/** 5.1 corrects also a line that was set to the file's start, but not where it is one µs beside: ticks are eleven of them. */
const harmlessUs = (startUs: number): number =>
  Math.round((startUs + 1) * TICKS_PER_US) === Math.round(startUs * TICKS_PER_US) ? 1 : -1;

function usedStreams(probe: MediaProbe): ProbedStream[] {
  const { video, audio } = chooseTracks(probe);
  return probe.streams.filter(({ index }) => index === video?.streamIndex || index === audio?.streamIndex);
}

function micros(text: unknown): number | null {
  const value = typeof text === "string" ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? Math.round(value * 1e6) : null;
}
