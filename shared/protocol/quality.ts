// A node's report about the measured quality of an output.
import * as z from "zod";
import { Line } from "./reported-text.ts";

const Statistics = (most: number) => {
  const value = z.number().min(-1).max(most);
  return z.object({ mean: value, harmonicMean: value, percentile1: value, min: value });
};
export const MAX_VMAF = 110;
export const MAX_PSNR = 200;
export const MAX_SSIM = 2;

/** Maximum number of values in a series. A correct node never reports more. */
const MAX_SERIES_POINTS = 2_000;
const Points = (most: number) => z.array(z.number().min(-1).max(most).nullable()).max(MAX_SERIES_POINTS);

export const MAX_INTERVAL_SECONDS = 1_000_000;

/** Means over intervals of equal length; null for intervals without a measurement. */
const SeriesReport = z.object({
  intervalSeconds: z.int().min(1).max(MAX_INTERVAL_SECONDS),
  vmaf: Points(MAX_VMAF),
  psnr: Points(MAX_PSNR),
  ssim: Points(MAX_SSIM),
});

const Side = z.int().min(1).max(100_000);
const Size = z.object({ width: Side, height: Side });

/** Quality of a video track (plan/quality). */
export const RenditionQuality = z.object({
  /** Name of the rendition in a stream, else `video`. */
  track: Line(60),
  /** `size`: the part of the frames that is not padding. `shown`: the size of this part during the comparison. */
  size: Size,
  shown: Size,
  /** VMAF model. */
  model: Line(60),
  /** `samples`: number of measured frames. `every`: a frame of this many was measured. */
  samples: z.int().min(1),
  every: z.int().min(1),
  vmaf: Statistics(MAX_VMAF),
  /** PSNR in dB. */
  psnr: Statistics(MAX_PSNR),
  ssim: Statistics(MAX_SSIM),
  series: SeriesReport,
});
export type RenditionQuality = z.infer<typeof RenditionQuality>;

export const QualityReport = z.object({
  renditions: z.array(RenditionQuality).max(50),
  /** Reason why tracks of the output could not be measured, in a sentence. */
  failure: Line(300).exactOptional(),
});
export type QualityReport = z.infer<typeof QualityReport>;
