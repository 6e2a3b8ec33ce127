// Limits the measured quality in the state of a job: all outputs share an entry of its storage with their probes.
import { MAX_INTERVAL_SECONDS, type MeasuredRendition, type QualityReport } from "#shared/job/quality.ts";
import type { TargetMetadata } from "#shared/job/quality-target.ts";
import type { ChunkTarget } from "#shared/protocol/target.ts";

/** In characters of JSON, for all outputs together (bounded-probes.ts has the rest of the entry). */
const MAX_CHARS = { quality: 200_000, targets: 50_000 };

const NOT_KEPT = "The job has too many tracks to keep the quality of all";

/**
 * The part of a report that is stored, in a job with this many outputs. Intervals get as long as necessary, and as many
 * tracks are kept as fit.
 */
export function boundedQuality(report: QualityReport, outputCount: number): QualityReport {
  const maxChars = Math.floor(MAX_CHARS.quality / outputCount);
  const isTooLong = (): boolean => JSON.stringify(bounded).length > maxChars;
  let bounded = report;
  while (isTooLong() && bounded.renditions.some((rendition) => pointsOf(rendition) > 1)) {
    bounded = { ...bounded, renditions: bounded.renditions.map(halved) };
  }
  while (isTooLong() && bounded.renditions.length > 0) {
    bounded = { error: NOT_KEPT, ...bounded, renditions: bounded.renditions.slice(0, -1) };
  }
  return bounded;
}

/** Length of the longest series. All series of a correct node have the same length. */
const pointsOf = ({ series }: MeasuredRendition): number =>
  series ? Math.max(series.vmaf.length, series.psnr.length, series.ssim.length) : 0;

const halved = ({ series, ...rendition }: MeasuredRendition): MeasuredRendition => ({
  ...rendition,
  ...(series && {
    series: {
      interval_seconds: Math.min(series.interval_seconds * 2, MAX_INTERVAL_SECONDS),
      vmaf: inPairs(series.vmaf, 1),
      psnr: inPairs(series.psnr, 1),
      ssim: inPairs(series.ssim, 4),
    },
  }),
});

function inPairs(points: readonly (number | null)[], digits: number): (number | null)[] {
  return Array.from({ length: Math.ceil(points.length / 2) }, (_, at) => {
    const known = points.slice(2 * at, 2 * at + 2).filter((point) => point !== null);
    const sum = known.reduce((total, point) => total + point, 0);
    return known.length === 0 ? null : Number((sum / known.length).toFixed(digits));
  });
}

/** The searches of an output that are stored: as many as fit. `tried` is left out if it is too long. */
export function boundedTargets(targets: readonly TargetMetadata[], outputCount: number): TargetMetadata[] {
  const maxChars = Math.floor(MAX_CHARS.targets / outputCount);
  const isTooLong = (): boolean => JSON.stringify(bounded).length > maxChars;
  let bounded = [...targets];
  if (isTooLong()) bounded = bounded.map(withoutTried);
  while (isTooLong()) bounded = bounded.slice(0, -1);
  return bounded;
}

/**
 * The searches of a chunk that are stored. A job may have thousands of chunks: at most one search for each track is
 * kept.
 */
export const boundedChunkTargets = (
  targets: readonly ChunkTarget[],
  { outputs, tracks }: { readonly outputs: readonly number[]; readonly tracks: number },
): ChunkTarget[] =>
  targets
    .filter(({ output }) => outputs.includes(output))
    .slice(0, tracks)
    .map(({ output, target }) => ({ output, target: withoutTried(target) }));

const withoutTried = (target: TargetMetadata): TargetMetadata => ({ ...target, tried: [] });
