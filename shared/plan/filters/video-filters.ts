// A picture on its way from the decoder to an encoder: the filters of films and images alike, in the order of docs/pictures.md.

import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Filter } from "../command/filter-graph.ts";
import type { Refusal } from "../command/output-plan.ts";
import { frameSizeFailure } from "../source/frame-size-limit.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { blurFilters } from "./blur.ts";
import { colorSteps, drawingFormat, type TargetFormat } from "./color-conversion.ts";
import type { Size } from "./fit-frame.ts";
import { fitGeometry, fixedSizeFilter, type GeometryOptions, geometryFilters, padFilters } from "./frame-geometry.ts";
import { conversionFailure } from "./tone-map.ts";
import { type Watermark, watermarkOverlay } from "./watermark.ts";

export type VideoFilterOptions = GeometryOptions & {
  readonly watermark: Watermark | null;
  /** 1 to 5, strongest last; null: none. */
  readonly blur?: number | null;
};

export type VideoFilters = {
  /** Of the output's picture. */
  readonly frame: Size;
  /** Of what is not padding. */
  readonly activeArea: Size;
  /** The last one leaves frames of the target's format, tagged. */
  readonly filters: readonly Filter[];
};

/**
 * Plans the way of a picture that ffmpeg has turned upright. Refuses sizes that no node can hold, and colours that the node's
 * ffmpeg lacks the filters for.
 */
export function planVideoFilters(
  spec: VideoFilterOptions,
  track: VideoTrack,
  target: TargetFormat,
  can: Pick<FfmpegCapabilities, "filters">,
): { readonly ok: true; readonly chain: VideoFilters } | Refusal {
  const fitted = fitGeometry(spec, track, target.step);
  const { frame, activeArea: picture } = fitted;
  const isDrawnOn = spec.watermark !== null || (spec.blur ?? null) !== null;
  const working = isDrawnOn ? { ...target, pixelFormat: drawingFormat(target) } : target;
  const colour = colorSteps(track.color, working, picture);
  const overlay = spec.watermark && watermarkOverlay(spec.watermark, { size: picture, ...colour.working });
  const converts = [...colour.toWorking, ...(overlay?.imageFilters ?? [])];
  const failure = frameSizeFailure(track, frame) ?? conversionFailure(converts, can);
  if (failure) return { ok: false, failure };
  const shape = geometryFilters(spec, fitted);
  const filters: Filter[] = [
    ...(shape.length === 0 ? [] : [fixedSizeFilter(track), ...shape]),
    ...colour.toWorking,
    ...blurFilters(spec.blur ?? null, picture),
    ...(overlay ? [overlay] : []),
    ...padFilters(fitted),
    "setsar=1",
    ...colour.toTarget,
    ...(working.pixelFormat === target.pixelFormat ? [] : [`format=${target.pixelFormat}`]),
  ];
  return { ok: true, chain: { frame, activeArea: picture, filters } };
}
