// What a node reports of the measured quality of an output.
import * as z from "zod";
import { Line } from "./reported-text.ts";

const Statistics = (most: number) => {
  const value = z.number().min(-1).max(most);
  return z.object({ mean: value, harmonicMean: value, percentile1: value, min: value });
};
export const MAX_VMAF = 110;
export const MAX_PSNR = 200;
export const MAX_SSIM = 2;

/** Values of a series; more are no report of a correct node. */
const MAX_SERIES_POINTS = 2_000;
const Points = (most: number) => z.array(z.number().min(-1).max(most).nullable()).max(MAX_SERIES_POINTS);

export const MAX_INTERVAL_SECONDS = 1_000_000;

/** Means over intervals of equal length; null where nothing was measured. */
const SeriesReport = z.object({
  intervalSeconds: z.int().min(1).max(MAX_INTERVAL_SECONDS),
  vmaf: Points(MAX_VMAF),
  psnr: Points(MAX_PSNR),
  ssim: Points(MAX_SSIM),
});

const Side = z.int().min(1).max(100_000);
const Size = z.object({ width: Side, height: Side });

/** The quality of one video track (plan/quality). */
export const RenditionQuality = z.object({
  /** Of a stream the name of the rendition, else `video`. */
  track: Line(60),
  /** The part of its frames that is not padding, and how large that was shown when it was compared. */
  size: Size,
  shown: Size,
  /** Of VMAF. */
  model: Line(60),
  /** Number of measured frames, and of how many frames one was measured. */
  samples: z.int().min(1),
  every: z.int().min(1),
  vmaf: Statistics(MAX_VMAF),
  /** In dB. */
  psnr: Statistics(MAX_PSNR),
  ssim: Statistics(MAX_SSIM),
  series: SeriesReport,
});
export type RenditionQuality = z.infer<typeof RenditionQuality>;

export const QualityReport = z.object({
  renditions: z.array(RenditionQuality).max(50),
  /** Why tracks of the output could not be measured, in one sentence. */
  failure: Line(300).exactOptional(),
});
export type QualityReport = z.infer<typeof QualityReport>;
