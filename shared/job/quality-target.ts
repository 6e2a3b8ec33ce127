// Result of the rate factor search for a requested VMAF, in responses.
import * as z from "zod";

export const TargetMetadata = z
  .object({
    vmaf: z.number().describe("The requested VMAF"),
    size: z.string().describe("Of the frames, such as `1280x720`"),
    chunk: z.int().exactOptional().describe("The number of the chunk, from 0, of a video that was encoded in chunks"),
    rate_factor: z.number().describe("The rate factor with which it was encoded"),
    ended: z
      .string()
      .describe(
        "Why the search ended: `met`, `best` (not even the best rate factor gives the VMAF), `worst` (the worst one gives more), `no_gain` (better rate factors change nothing, as with a maximum bitrate), `step` or `limit` (nothing nearer was found), `failed` (nothing could be measured)",
      ),
    samples: z
      .object({
        number: z.int(),
        seconds: z.number().describe("Of all of them together"),
        frames: z.int().describe("Number of measured frames"),
        mean: z.number(),
        harmonic_mean: z.number(),
        percentile_1: z.number().describe("One percent of the measured frames have less"),
        kbps: z.int(),
      })
      .nullable()
      .describe("VMAF and bitrate of the samples with that rate factor; null if nothing was measured"),
    tried: z
      .array(z.object({ rate_factor: z.number(), score: z.number(), kbps: z.int() }))
      .describe("The tried rate factors, in order; `score` is compared with the VMAF. Empty for chunks"),
  })
  .describe("How the rate factor for `quality=vmaf…` was found");
export type TargetMetadata = z.infer<typeof TargetMetadata>;
