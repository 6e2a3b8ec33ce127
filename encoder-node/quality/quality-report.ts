// The report on measured video tracks.

import type { MeasuredRendition, QualityReport } from "#shared/job/quality.ts";
import type { QualitySample } from "#shared/plan/quality/read-samples.ts";
import { summarizeQuality } from "#shared/plan/quality/summarize-quality.ts";
import type { Viewing } from "#shared/plan/quality/viewing.ts";

/** A measured video track, or the reason why it could not be measured. */
export type TrackQuality = { readonly track: string } & (
  | { readonly measured: Measured }
  | { readonly failure: string }
);

export type Measured = {
  /** The VMAF model. */
  readonly model: string;
  /** The part of its frames that is not padding, and the size at which that part was shown. In pixels. */
  readonly size: Viewing["size"];
  readonly shown: Viewing["size"];
  readonly every: number;
  readonly samples: readonly QualitySample[];
};

/** Maximum number of values in the series of an output and of a rendition. They are stored with the job. */
const MAX_POINTS = { output: 1200, rendition: 60 };

/** Reports on the tracks of an output. If several tracks failed, the first failure is reported. */
export function qualityReport(tracks: readonly TrackQuality[]): QualityReport {
  const maxPoints = Math.max(MAX_POINTS.rendition, Math.floor(MAX_POINTS.output / Math.max(1, tracks.length)));
  const failures = tracks.flatMap((track) => ("failure" in track ? [track.failure] : []));
  const renditions = tracks.flatMap((track): MeasuredRendition[] => {
    if (!("measured" in track) || track.measured.samples.length === 0) return [];
    const { samples, size, shown, model, every } = track.measured;
    const sizes = { ...size, shown_width: shown.width, shown_height: shown.height };
    return [{ track: track.track, ...sizes, model, every, ...summarizeQuality(samples, maxPoints) }];
  });
  return { renditions, ...(failures[0] === undefined ? {} : { error: lineOf(failures[0]) }) };
}

/** Formats a message for the protocol: a message can quote ffmpeg, and ffmpeg can quote the source. */
export const lineOf = (message: string): string =>
  message
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .slice(0, 300)
    .toWellFormed();
