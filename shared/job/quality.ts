// Measured quality of an output in its metadata.
import * as z from "zod";
import { Line } from "../line.ts";
import { NAMED } from "../named-schemas.ts";
import { DroppedVideo } from "./dropped-video.ts";
import { TargetMetadata } from "./quality-target.ts";

export const MAX_VMAF = 110;
export const MAX_PSNR = 200;
export const MAX_SSIM = 2;
/** A correct node never reports more. */
const MAX_SERIES_POINTS = 2_000;
export const MAX_INTERVAL_SECONDS = 1_000_000;

const Statistics = (most: number) => {
  const value = z.number().min(-1).max(most);
  return z.object({
    mean: value,
    harmonic_mean: value,
    percentile_1: value.describe("One percent of the measured frames have less"),
    min: value,
  });
};
const Points = (most: number) =>
  z
    .array(z.number().min(-1).max(most).nullable())
    .max(MAX_SERIES_POINTS)
    .describe("Means; null where nothing was measured");
const Side = z.int().min(1).max(100_000);

export const QualitySeries = z
  .object({
    interval_seconds: z
      .int()
      .min(1)
      .max(MAX_INTERVAL_SECONDS)
      .describe("The length of an interval; 1 unless the video is long"),
    vmaf: Points(MAX_VMAF),
    psnr: Points(MAX_PSNR),
    ssim: Points(MAX_SSIM),
  })
  .describe("The quality of each interval, from the start of the video; never in notifications");

export const MeasuredRendition = z
  .object({
    track: Line(60).describe("Of a stream the name of the rendition, such as `720p`, else `video`"),
    width: Side.describe("Of its frames without padding, in pixels"),
    height: Side,
    shown_width: Side.describe("How large source and video were shown when they were compared, in pixels"),
    shown_height: Side,
    model: Line(60).describe("The model of VMAF: `vmaf_v0.6.1` for 1080p, `vmaf_4k_v0.6.1` for 2160p"),
    frames: z.int().min(1).describe("Number of measured frames"),
    every: z.int().min(1).describe("One of this many frames was measured"),
    vmaf: Statistics(MAX_VMAF).describe("0 to 100"),
    psnr: Statistics(MAX_PSNR).describe("Of luma, in dB"),
    ssim: Statistics(MAX_SSIM).describe("Of luma, up to 1"),
    series: QualitySeries.exactOptional(),
  })
  .describe("The quality of one video track")
  .register(NAMED, { id: "MeasuredRendition" });
export type MeasuredRendition = z.infer<typeof MeasuredRendition>;

/** The report of a node. */
export const QualityReport = z.object({
  renditions: z.array(MeasuredRendition).max(50),
  error: Line(300).exactOptional().describe("Why tracks could not be measured"),
});
export type QualityReport = z.infer<typeof QualityReport>;

export const QualityMetadata = z
  .object({
    renditions: QualityReport.shape.renditions.exactOptional(),
    error: QualityReport.shape.error,
    target: z.array(TargetMetadata).exactOptional(),
    dropped: z
      .array(DroppedVideo)
      .exactOptional()
      .describe("The variants that a stream does without because of `drop_similar_variants`"),
  })
  .describe("The quality of the video compared with its source, with `settings.quality_report` or `quality=vmaf…`")
  .register(NAMED, { id: "QualityMetadata" });
export type QualityMetadata = z.infer<typeof QualityMetadata>;

/** Removes the series and the values of each chunk, for notifications. */
export const withoutSeries = ({ renditions, target, ...quality }: QualityMetadata): QualityMetadata => ({
  ...quality,
  ...(target ? { target: target.filter(({ chunk }) => chunk === undefined) } : {}),
  ...(renditions ? { renditions: renditions.map(({ series: _series, ...rendition }) => rendition) } : {}),
});
