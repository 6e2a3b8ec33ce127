// Measured loudness and chosen gain in a node's reports.
import * as z from "zod";
import { MAX_LENGTH_MS } from "../report-limits.ts";
import { Line } from "./reported-text.ts";
import { OutputIndex } from "./uploads.ts";

/** Far above the audio tracks of broadcasts. */
const MAX_AUDIO_TRACKS = 200;

/** −70 LUFS is silence (ITU-R BS.1770-4, absolute threshold); floating-point audio may exceed 0 dBFS. */
const Level = z.number().min(-200).max(200);

export const LoudnessReport = z.object({
  track: z.int().min(1).max(MAX_AUDIO_TRACKS).exactOptional(),
  layout: Line(60),
  input: z.object({ integrated: Level, range: Level, truePeak: Level }),
  gainDb: Level,
  limitedSeconds: z
    .number()
    .min(0)
    .max(MAX_LENGTH_MS / 1000),
  output: z.object({ integrated: Level, truePeak: Level }),
  note: Line(200).exactOptional(),
});
export type LoudnessReport = z.infer<typeof LoudnessReport>;

/** Mixes of an output: a mix for each of its audio tracks, and in a stream for each channel layout of its variants. */
export const LoudnessReports = z.array(LoudnessReport).max(8 * MAX_AUDIO_TRACKS);

/** Mixes of an output whose audio the task `audio` encodes. */
export const AudioLoudness = z.object({ output: OutputIndex, mixes: LoudnessReports });
