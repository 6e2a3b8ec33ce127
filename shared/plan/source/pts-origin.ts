// The start of a run's timeline on the source's own clock, as ffmpeg sees it.
import type { MediaProbe } from "../../media/media-probe.ts";
import { mayRestart, microseconds, timelineStartUs } from "../../media/timeline-start.ts";
import { usedStreams } from "./source-tracks.ts";

/** Ticks of MPEG's clock, which all streams of such files use. */
const TICKS_PER_US = 0.09;

/**
 * How much later than the file (its `start_time`) the timeline of a run begins that reads the chosen video and audio,
 * in µs. Runs that read only one of them use the same timeline.
 */
export const ptsOriginUs = (probe: MediaProbe): number =>
  timelineStartUs(probe, usedStreams(probe)) - (microseconds(probe.format.start_time) ?? 0);

/**
 * Options of the source for runs that read only some of the streams that define the timeline. By itself ffmpeg would
 * begin the timeline at the streams that it reads ("Correcting start time" in ffmpeg_demux.c), so these options set it
 * from the file's own clock. Empty for formats in which that does not happen.
 */
export function ptsOriginArguments(probe: MediaProbe): string[] {
  if (!mayRestart(probe)) return [];
  const startUs = timelineStartUs(probe, usedStreams(probe));
  return ["-copyts", "-itsoffset", (-(startUs + harmlessUs(startUs)) / 1e6).toFixed(6)];
}

/**
 * One µs that does not change the tick, of about eleven µs. ffmpeg 5.1 also corrects a timeline that was set to exactly
 * the file's start, and leaves one alone that is 1 µs beside it.
 */
const harmlessUs = (startUs: number): number =>
  Math.round((startUs + 1) * TICKS_PER_US) === Math.round(startUs * TICKS_PER_US) ? 1 : -1;
