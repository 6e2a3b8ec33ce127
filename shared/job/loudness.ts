// Loudness of audio (ITU-R BS.1770-4, EBU R 128) in requests and responses.
import * as z from "zod";
import { Line } from "../line.ts";
import { NAMED } from "../named-schemas.ts";
import { MAX_LENGTH_MS } from "../report-limits.ts";

/** A gain for a mix of the source's channels, found by a node. */
export const LoudnessGain = z.object({
  /** Number of the output's audio track; absent without a list of tracks. */
  track: z.int().exactOptional(),
  /** ffmpeg's name of the channel layout of the mix. */
  layout: z.string(),
  gainDb: z.number(),
  /** The limiter keeps the true peak below this, in dBTP; null: no limiter. */
  limitDb: z.number().nullable(),
});
export type LoudnessGain = z.infer<typeof LoudnessGain>;

/** Requested loudness of an output's audio. */
export const LoudnessSpec = z.object({
  /** Integrated loudness in LUFS; null: the loudness is only measured. */
  targetLufs: z.number().nullable(),
  /** Maximum true peak in dBTP. */
  truePeakDb: z.number(),
  /** Allowed difference from the target, in LU. */
  toleranceLu: z.number(),
  /** Set by the node that measured the source. */
  gains: z.array(LoudnessGain).exactOptional(),
});
export type LoudnessSpec = z.infer<typeof LoudnessSpec>;

/** −70 LUFS is silence (ITU-R BS.1770-4, absolute threshold); floating-point audio may exceed 0 dBFS. */
const Level = z.number().min(-200).max(200);
/** Far above the audio tracks of broadcasts. */
const MAX_AUDIO_TRACKS = 200;

export const LoudnessMetadata = z
  .object({
    track: z
      .int()
      .min(1)
      .max(MAX_AUDIO_TRACKS)
      .exactOptional()
      .describe("Number of the output's audio track, with `audio`"),
    layout: Line(60).describe("The channel layout, such as `stereo`"),
    input: z
      .object({
        integrated: Level.describe("LUFS; −70 for silence"),
        range: Level.describe("Loudness range in LU"),
        true_peak: Level.describe("dBTP"),
      })
      .describe("The input, mixed to this layout"),
    gain_db: Level.describe("The gain of the whole output; 0 if the loudness was only measured"),
    limited_seconds: z
      .number()
      .min(0)
      .max(MAX_LENGTH_MS / 1000)
      .describe("How long the limiter was active"),
    output: z
      .object({ integrated: Level.describe("LUFS"), true_peak: Level.describe("dBTP") })
      .describe("The encoded audio"),
    note: Line(200).exactOptional(),
  })
  .describe("The loudness of one mix of the input's channels (ITU-R BS.1770-4), with `loudness`")
  .register(NAMED, { id: "LoudnessMetadata" });
export type LoudnessMetadata = z.infer<typeof LoudnessMetadata>;

/** Mixes of an output: a mix for each of its audio tracks, and in a stream for each channel layout of its variants. */
export const OutputLoudness = z.array(LoudnessMetadata).max(8 * MAX_AUDIO_TRACKS);
