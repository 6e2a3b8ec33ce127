// The filters between decoder and encoder, the same for videos and images, in the order of docs/video.md.
import { err, ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Filter } from "../command/filter-graph.ts";
import { frameSizeFailure, type Size } from "../source/frame-size.ts";
import type { ColorTags } from "../source/source-color.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { colorSteps, drawingFormat, premultiplies, type TargetFormat } from "./color-conversion.ts";
import { DEINTERLACERS } from "./filter-needs.ts";
import type { FittedFrame } from "./fit-frame.ts";
import {
  fitGeometry,
  fixedSizeFilters,
  type GeometryOptions,
  geometryFilters,
  padFilters,
  shapeOf,
} from "./frame-geometry.ts";
import { type Watermark, watermarkOverlay } from "./watermark.ts";

export type VideoFilterOptions = GeometryOptions & {
  readonly watermark: Watermark | null;
  /** 1 to 5, strongest last; null: none. */
  readonly blur?: number | null;
};

export type VideoFilters = {
  /** The size of the output's frames. */
  readonly frame: Size;
  /** The part of them that is not padding. */
  readonly activeArea: Size;
  /** The last filter returns frames of the target's format, with tags. */
  readonly filters: readonly Filter[];
  /** The color space of the frames. */
  readonly tags: ColorTags;
};

/** Plans the filters for frames to which ffmpeg has already applied the source's rotation. Fails for some sizes. */
export function planVideoFilters(
  options: VideoFilterOptions,
  track: VideoTrack,
  target: TargetFormat,
): Result<VideoFilters> {
  return filtersTo(fitGeometry(options, track, target.step), options, track, target);
}

/**
 * The same for frames of which only the active area is shown, at the size `view`: for comparing what was encoded with
 * what a player shows of it.
 */
export function planViewFilters(
  options: VideoFilterOptions,
  track: VideoTrack,
  target: TargetFormat,
  view: Size,
): Result<VideoFilters> {
  const { crop } = fitGeometry(options, track, target.step);
  return filtersTo({ frame: view, activeArea: view, pad: null, crop }, options, track, target);
}

function filtersTo(
  fitted: FittedFrame,
  options: VideoFilterOptions,
  track: VideoTrack,
  target: TargetFormat,
): Result<VideoFilters> {
  const { frame, activeArea } = fitted;
  const isDrawnOn = options.watermark !== null || (options.blur ?? null) !== null;
  const working = isDrawnOn ? { ...target, pixelFormat: drawingFormat(target) } : target;
  const geometry = geometryFilters(options, fitted);
  const isFixed = geometry.length > 0 || premultiplies(track.color, working);
  const scaled = { size: activeArea, shape: isFixed ? null : shapeOf(track), step: target.step };
  const color = colorSteps(track.color, working, scaled);
  const overlay = options.watermark && watermarkOverlay(options.watermark, { size: activeArea, ...color.working });
  const failure = frameSizeFailure(track, frame);
  if (failure) return err(failure);
  const filters: Filter[] = [
    ...(isFixed ? fixedSizeFilters(track) : []),
    ...geometry,
    ...color.toWorking,
    ...blurFilters(options.blur ?? null, activeArea),
    ...(overlay ? [overlay] : []),
    ...padFilters(fitted),
    "setsar=1",
    ...color.toTarget,
    ...(working.pixelFormat === target.pixelFormat ? [] : [`format=${target.pixelFormat}`]),
  ];
  return ok({ frame, activeArea, filters, tags: color.working.tags });
}

/**
 * Deinterlaces the frames that the decoder calls interlaced, one frame for each, and passes progressive ones unchanged,
 * so that mixed sources come out right.
 */
export function deinterlaceFilters(track: VideoTrack, { filters }: Pick<FfmpegCapabilities, "filters">): string[] {
  const name = DEINTERLACERS.find((deinterlacer) => filters.includes(deinterlacer)) ?? DEINTERLACERS[0];
  return [...fixedSizeFilters(track), `${name}=mode=send_frame:deint=interlaced`];
}

/**
 * `blur` 1–5 → the standard deviation of the Gaussian, as a share of the shorter side: from soft, by way of faces that
 * cannot be recognized (about 3), to colors only. Our decision.
 */
const SIGMA_SHARE: Readonly<Record<number, number>> = { 1: 0.005, 2: 0.01, 3: 0.02, 4: 0.04, 5: 0.08 };

function blurFilters(step: number | null, { width, height }: Size): string[] {
  const share = step === null ? undefined : SIGMA_SHARE[step];
  return share === undefined ? [] : [`gblur=sigma=${Number((Math.min(width, height) * share).toFixed(2))}`];
}
