// Where on its own clock the time line of a source begins, in ffmpeg's eyes.
import type { MediaProbe, ProbedStream } from "../../media/media-probe.ts";
import { beginsWithUsedStreams, microseconds, timelineStartUs } from "../../media/timeline-start.ts";
import { chooseTracks } from "./source-tracks.ts";

/** Of MPEG's clock, which all streams of such files have. */
const TICKS_PER_US = 0.09;

/**
 * How much later than the file (its `start_time`) the line of a run begins that reads the chosen picture and sound, in µs.
 * Such a run is the measure for those that read one of both.
 */
export const ptsOriginUs = (probe: MediaProbe): number =>
  timelineStartUs(probe, usedStreams(probe)) - (microseconds(probe.format.start_time) ?? 0);

/**
 * Options of the source for runs that read only some of the streams that make the line: ffmpeg would begin it at those
 * ("Correcting start time" in ffmpeg_demux.c), so it is set from the file's own clock. None where that does not happen.
 */
export function ptsOriginArguments(probe: MediaProbe): string[] {
  if (!beginsWithUsedStreams(probe)) return [];
  const startUs = timelineStartUs(probe, usedStreams(probe));
  return ["-copyts", "-itsoffset", (-(startUs + harmlessUs(startUs)) / 1e6).toFixed(6)];
}

/** 5.1 corrects also a line that was set to the file's start, but not where it is one µs beside: ticks are eleven of them. */
const harmlessUs = (startUs: number): number =>
  Math.round((startUs + 1) * TICKS_PER_US) === Math.round(startUs * TICKS_PER_US) ? 1 : -1;

function usedStreams(probe: MediaProbe): ProbedStream[] {
  const { video, audio } = chooseTracks(probe);
  return probe.streams.filter(({ index }) => index === video?.streamIndex || index === audio?.streamIndex);
}
