// Plans the run that copies the closed captions out of a source's video (ATSC A/53 part 4).

import type { MediaProbe } from "../../media/media-probe.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { type RunInputs, readingRun } from "../runs/plan-run.ts";
import { chooseTracks } from "../source/source-tracks.ts";

/** The units of the bitstream that may have captions, by codec: supplemental information, and MPEG-2's user data. */
const UNITS: Readonly<Record<string, string>> = { h264: "6", hevc: "39-40", mpeg2video: "178" };

/** The units, one after the other in the order of the file. */
export const CAPTION_UNITS = "captions.bin";
/** The times and sizes of the units, in ffmpeg's format framecrc. */
export const CAPTION_TIMES = "captions.txt";

/** A run that writes both files, and decodes nothing. Null if the video cannot have captions. */
export function planCaptions(inputs: RunInputs, probe: MediaProbe): PlannedRun | null {
  const { video } = chooseTracks(probe);
  const units = UNITS[video?.codec ?? ""];
  if (!video || units === undefined) return null;
  const { streamIndex } = video;
  const copy = ["-map", `0:${streamIndex}`, "-c", "copy", "-bsf:v", `filter_units=pass_types=${units}`];
  return readingRun(inputs, probe, [...copy, "-f", "data", CAPTION_UNITS, ...copy, "-f", "framecrc", CAPTION_TIMES]);
}
