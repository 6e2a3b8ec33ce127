// A picture on its way from the decoder to an encoder: the filters of films and images alike, in the order of docs/pictures.md.

import type { Can } from "../command/capabilities.ts";
import type { Filter } from "../command/filter-graph.ts";
import type { Refusal } from "../command/output-plan.ts";
import { sizeRefusal } from "../source/frame-size-limit.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { blurFilters } from "./blur.ts";
import { colourSteps, drawingFormat, type PictureTarget } from "./color-conversion.ts";
import type { Size } from "./fit-frame.ts";
import { fittedShape, padFilters, type ShapeSpec, shapeFilters, steadySize } from "./frame-geometry.ts";
import { conversionRefusal } from "./tone-map.ts";
import { type Watermark, watermarkOverlay } from "./watermark.ts";

export type PictureSpec = ShapeSpec & {
  readonly watermark: Watermark | null;
  /** 1 to 5, strongest last; null: none. */
  readonly blur?: number | null;
};

export type PictureChain = {
  /** Of the output's picture. */
  readonly frame: Size;
  /** Of what is not padding. */
  readonly picture: Size;
  /** The last one leaves frames of the target's format, tagged. */
  readonly filters: readonly Filter[];
};

/**
 * Plans the way of a picture that ffmpeg has turned upright. Refuses sizes that no node can hold, and colours that the node's
 * ffmpeg lacks the filters for.
 */
export function pictureChain(
  spec: PictureSpec,
  track: VideoTrack,
  target: PictureTarget,
  can: Pick<Can, "filters">,
): { readonly ok: true; readonly chain: PictureChain } | Refusal {
  const fitted = fittedShape(spec, track, target.step);
  const { frame, picture } = fitted;
  const isDrawnOn = spec.watermark !== null || (spec.blur ?? null) !== null;
  const working = isDrawnOn ? { ...target, pixelFormat: drawingFormat(target) } : target;
  const colour = colourSteps(track.colour, working, picture);
  const overlay = spec.watermark && watermarkOverlay(spec.watermark, { size: picture, ...colour.working });
  const converts = [...colour.toWorking, ...(overlay?.markFilters ?? [])];
  const failure = sizeRefusal(track, frame) ?? conversionRefusal(converts, can);
  if (failure) return { ok: false, failure };
  const shape = shapeFilters(spec, fitted);
  const filters: Filter[] = [
    ...(shape.length === 0 ? [] : [steadySize(track), ...shape]),
    ...colour.toWorking,
    ...blurFilters(spec.blur ?? null, picture),
    ...(overlay ? [overlay] : []),
    ...padFilters(fitted),
    "setsar=1",
    ...colour.toTarget,
    ...(working.pixelFormat === target.pixelFormat ? [] : [`format=${target.pixelFormat}`]),
  ];
  return { ok: true, chain: { frame, picture, filters } };
}
