// Measured quality of an output in its metadata.
import * as z from "zod";
import { DroppedVideo } from "./dropped-video.ts";
import { TargetMetadata } from "./quality-target.ts";

const Statistics = z.object({
  mean: z.number(),
  harmonic_mean: z.number(),
  percentile_1: z.number().describe("One percent of the measured frames have less"),
  min: z.number(),
});
const Points = z.array(z.number().nullable()).describe("Means; null where nothing was measured");

export const QualitySeries = z
  .object({
    interval_seconds: z.int().describe("The length of an interval; 1 unless the video is long"),
    vmaf: Points,
    psnr: Points,
    ssim: Points,
  })
  .describe("The quality of each interval, from the start of the video; never in notifications");

export const MeasuredRendition = z
  .object({
    track: z.string().describe("Of a stream the name of the rendition, such as `720p`, else `video`"),
    width: z.int().describe("Of its frames without padding, in pixels"),
    height: z.int(),
    shown_width: z.int().describe("How large source and video were shown when they were compared, in pixels"),
    shown_height: z.int(),
    model: z.string().describe("The model of VMAF: `vmaf_v0.6.1` for 1080p, `vmaf_4k_v0.6.1` for 2160p"),
    frames: z.int().describe("Number of measured frames"),
    every: z.int().describe("One of this many frames was measured"),
    vmaf: Statistics.describe("0 to 100"),
    psnr: Statistics.describe("Of luma, in dB"),
    ssim: Statistics.describe("Of luma, up to 1"),
    series: QualitySeries.exactOptional(),
  })
  .meta({ id: "MeasuredRendition", description: "The quality of one video track" });
export type MeasuredRendition = z.infer<typeof MeasuredRendition>;

export const QualityMetadata = z
  .object({
    renditions: z.array(MeasuredRendition).exactOptional(),
    error: z.string().exactOptional().describe("Why tracks could not be measured"),
    target: z.array(TargetMetadata).exactOptional(),
    dropped: z
      .array(DroppedVideo)
      .exactOptional()
      .describe("The variants that a stream does without because of `drop_similar_variants`"),
  })
  .meta({
    id: "QualityMetadata",
    description: "The quality of the video compared with its source, with `settings.quality_report` or `quality=vmaf…`",
  });
export type QualityMetadata = z.infer<typeof QualityMetadata>;

/** Removes the series and the values of each chunk, for notifications. */
export const withoutSeries = ({ renditions, target, ...quality }: QualityMetadata): QualityMetadata => ({
  ...quality,
  ...(target ? { target: target.filter(({ chunk }) => chunk === undefined) } : {}),
  ...(renditions ? { renditions: renditions.map(({ series: _series, ...rendition }) => rendition) } : {}),
});
