// The start of a run's timeline on the source's own clock, as ffmpeg sees it.
import type { MediaProbe } from "../../media/media-probe.ts";
import { mayRestart, microseconds, timelineStartUs } from "../../media/timeline-start.ts";
import { usedStreams } from "./source-tracks.ts";

/** Ticks of MPEG's clock, which all streams of such files use. */
const TICKS_PER_US = 0.09;

/**
 * Time from the file's `start_time` to the start of a run's timeline, in µs. The run reads the chosen video and audio.
 * Runs that read only video or only audio use the same timeline.
 */
export const ptsOriginUs = (probe: MediaProbe): number =>
  timelineStartUs(probe, usedStreams(probe)) - (microseconds(probe.format.start_time) ?? 0);

/**
 * Options of the source for runs that read only some of the streams that define the timeline. By itself ffmpeg would
 * start the timeline at the streams that it reads ("Correcting start time" in ffmpeg_demux.c). These options set the
 * timeline from the file's own clock. Empty for formats without this correction.
 */
export function ptsOriginArguments(probe: MediaProbe): string[] {
  if (!mayRestart(probe)) return [];
  const startUs = timelineStartUs(probe, usedStreams(probe));
  return ["-copyts", "-itsoffset", (-(startUs + harmlessUs(startUs)) / 1e6).toFixed(6)];
}

/**
 * Offset of 1 µs that does not change the tick of about eleven µs. ffmpeg 5.1 also corrects a timeline that was set to
 * exactly the file's start. It does not correct a timeline that is 1 µs away from the start.
 */
const harmlessUs = (startUs: number): number =>
  Math.round((startUs + 1) * TICKS_PER_US) === Math.round(startUs * TICKS_PER_US) ? 1 : -1;
