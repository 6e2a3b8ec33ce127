// The measured quality of an output, as clients see it.
import type { MeasuredRendition, QualityMetadata } from "#shared/job/quality.ts";
import type { QualityReport, RenditionQuality } from "#shared/protocol/quality.ts";

/** A report as clients see it. */
export const qualityMetadata = ({ renditions, failure }: QualityReport): QualityMetadata => ({
  renditions: renditions.map(renditionMetadata),
  ...(failure === undefined ? {} : { error: failure }),
});

function renditionMetadata({ size, shown, samples, series, ...rendition }: RenditionQuality): MeasuredRendition {
  const { intervalSeconds, ...points } = series;
  return {
    track: rendition.track,
    ...{ width: size.width, height: size.height, shown_width: shown.width, shown_height: shown.height },
    ...{ model: rendition.model, frames: samples, every: rendition.every },
    ...{ vmaf: statistics(rendition.vmaf), psnr: statistics(rendition.psnr), ssim: statistics(rendition.ssim) },
    series: { interval_seconds: intervalSeconds, ...points },
  };
}

const statistics = ({ mean, harmonicMean, percentile1, min }: RenditionQuality["vmaf"]) => ({
  ...{ mean, harmonic_mean: harmonicMean, percentile_1: percentile1, min },
});
