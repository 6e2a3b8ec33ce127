// How much of the measured quality a job stores: all outputs share an entry of its storage with their probes.
import type { QualityReport, RenditionQuality, SeriesReport } from "#shared/protocol/quality.ts";

/** In characters of JSON, for all outputs together (bounded-probes.ts has the rest of the entry). */
const MAX_CHARS = 200_000;

/** The part of a report that is stored, in a job with this many outputs: series with intervals as long as necessary. */
export function boundedQuality(report: QualityReport, outputCount: number): QualityReport {
  const maxChars = Math.floor(MAX_CHARS / outputCount);
  let bounded = report;
  while (JSON.stringify(bounded).length > maxChars && bounded.renditions.some(({ series }) => series.vmaf.length > 1)) {
    bounded = { ...bounded, renditions: bounded.renditions.map(halved) };
  }
  return bounded;
}

const halved = ({ series, ...rendition }: RenditionQuality): RenditionQuality => ({
  ...rendition,
  series: {
    intervalSeconds: series.intervalSeconds * 2,
    vmaf: inPairs(series.vmaf, 1),
    psnr: inPairs(series.psnr, 1),
    ssim: inPairs(series.ssim, 4),
  },
});

function inPairs(points: SeriesReport["vmaf"], digits: number): (number | null)[] {
  return Array.from({ length: Math.ceil(points.length / 2) }, (_, at) => {
    const known = points.slice(2 * at, 2 * at + 2).filter((point) => point !== null);
    const sum = known.reduce((total, point) => total + point, 0);
    return known.length === 0 ? null : Number((sum / known.length).toFixed(digits));
  });
}
