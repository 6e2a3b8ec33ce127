// Result of the rate factor search for a requested VMAF, in responses.
import * as z from "zod";
import { Line } from "../line.ts";
import { MAX_FILE_BYTES, MAX_LENGTH_MS } from "../report-limits.ts";

const Vmaf = z.number().min(-1).max(110);
const Kbps = z.int().min(0).max(MAX_FILE_BYTES);
const RateFactor = z.number().min(0).max(100);

export const TargetMetadata = z
  .object({
    vmaf: Vmaf.describe("The requested VMAF"),
    size: Line(20).describe("Of the frames, such as `1280x720`"),
    chunk: z
      .int()
      .min(0)
      .exactOptional()
      .describe("The number of the chunk, from 0, of a video that was encoded in chunks"),
    rate_factor: RateFactor.describe("The rate factor with which it was encoded"),
    ended: Line(40).describe(
      "Why the search ended: `met`, `best` (not even the best rate factor gives the VMAF), `worst` (the worst one gives more), `no_gain` (better rate factors change nothing, as with a maximum bitrate), `step` or `limit` (nothing nearer was found), `failed` (nothing could be measured)",
    ),
    samples: z
      .object({
        number: z.int().min(0).max(1000),
        seconds: z
          .number()
          .min(0)
          .max(MAX_LENGTH_MS / 1000)
          .describe("Of all of them together"),
        frames: z.int().min(0).describe("Number of measured frames"),
        mean: Vmaf,
        harmonic_mean: Vmaf,
        percentile_1: Vmaf.describe("One percent of the measured frames have less"),
        kbps: Kbps,
      })
      .nullable()
      .describe("VMAF and bitrate of the samples with that rate factor; null if nothing was measured"),
    tried: z
      .array(z.object({ rate_factor: RateFactor, score: Vmaf, kbps: Kbps }))
      .max(20)
      .describe("The tried rate factors, in order; `score` is compared with the VMAF. Empty for chunks"),
  })
  .describe("How the rate factor for `quality=vmaf…` was found");
export type TargetMetadata = z.infer<typeof TargetMetadata>;
