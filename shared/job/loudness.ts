// Loudness of audio (ITU-R BS.1770-4, EBU R 128) in requests and responses.
import * as z from "zod";

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

export const LoudnessMetadata = z
  .object({
    track: z.int().exactOptional().describe("Number of the output's audio track, with `audio`"),
    layout: z.string().describe("The channel layout, such as `stereo`"),
    input: z
      .object({
        integrated: z.number().describe("LUFS; −70 for silence"),
        range: z.number().describe("Loudness range in LU"),
        true_peak: z.number().describe("dBTP"),
      })
      .describe("The input, mixed to this layout"),
    gain_db: z.number().describe("The gain of the whole output; 0 if the loudness was only measured"),
    limited_seconds: z.number().describe("How long the limiter was active"),
    output: z
      .object({ integrated: z.number().describe("LUFS"), true_peak: z.number().describe("dBTP") })
      .describe("The encoded audio"),
    note: z.string().exactOptional(),
  })
  .meta({
    id: "LoudnessMetadata",
    description: "The loudness of one mix of the input's channels (ITU-R BS.1770-4), with `loudness`",
  });
export type LoudnessMetadata = z.infer<typeof LoudnessMetadata>;
