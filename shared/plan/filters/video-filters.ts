// The filters between decoder and encoder, the same for videos and images, in the order of docs/video.md.
import type { Watermark } from "../../job/output-spec.ts";
import { err, ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Filter } from "../command/filter-graph.ts";
import { frameSizeFailure, type Size } from "../source/frame-size.ts";
import type { ColorTags } from "../source/source-color.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { isLaidOver, surroundingFilters } from "./backdrop.ts";
import { type BurnIn, burnFilters, burnTimes } from "./burn-in.ts";
import { colorSteps, drawingFormat, premultiplies, type TargetFormat } from "./color-conversion.ts";
import { cropFailure } from "./crop-source.ts";
import { DEINTERLACERS } from "./filter-needs.ts";
import type { FittedFrame } from "./fit-frame.ts";
import { fitGeometry, fixedSizeFilters, type GeometryOptions, geometryFilters, shapeOf } from "./frame-geometry.ts";
import { overlayFilters, overlayTimes, watermarkOverlay } from "./overlays/draw-overlays.ts";
import type { DrawnOverlays } from "./overlays/overlay-times.ts";

export type VideoFilterOptions = GeometryOptions & {
  readonly watermark: Watermark | null;
  /** Color of bars; black by default. */
  readonly pad_color?: string | undefined;
  /** 1 to 5, strongest last. */
  readonly blur?: number | undefined;
  /** Captions; null: none. */
  readonly burnIn?: BurnIn | null;
  /** Overlays; null: none. */
  readonly drawn?: DrawnOverlays | null;
};

export type VideoFilters = {
  /** Size of the output's frames. */
  readonly frame: Size;
  /** Part of the frames that is not padding. */
  readonly activeArea: Size;
  /** Filters that return frames of the target's format, with tags. */
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

/** Plans the filters for frames of this geometry. */
export function filtersTo(
  fitted: FittedFrame,
  options: VideoFilterOptions,
  track: VideoTrack,
  target: TargetFormat,
): Result<VideoFilters> {
  const { frame, activeArea } = fitted;
  const { watermark, blur, burnIn = null, drawn = null } = options;
  const draws = watermark !== null || blur !== undefined || burnIn !== null || drawn !== null;
  const isDrawnOn = draws || isLaidOver(options, fitted);
  const working = isDrawnOn ? { ...target, pixelFormat: drawingFormat(target) } : target;
  const geometry = geometryFilters(options, fitted, track);
  const isFixed = geometry.length > 0 || premultiplies(track.color, working);
  const scaled = {
    size: activeArea,
    shape: isFixed || options.fit === "stretch" ? null : shapeOf(track),
    step: target.step,
  };
  const color = colorSteps(track.color, working, scaled);
  const canvas = { ...color.working, size: activeArea, step: target.step };
  const times = [...(burnIn ? burnTimes(burnIn) : []), ...(drawn ? overlayTimes(drawn) : [])];
  const surroundings = surroundingFilters(options, fitted, color.working, times);
  const failure = cropFailure(options.crop, track) ?? frameSizeFailure(track, frame);
  if (failure) return err(failure);
  const filters: Filter[] = [
    ...(isFixed ? fixedSizeFilters(track) : []),
    ...geometry,
    ...color.toWorking,
    ...blurFilters(blur, activeArea),
    ...surroundings.before,
    ...(burnIn ? burnFilters(burnIn, canvas) : []),
    ...(watermark ? [watermarkOverlay(watermark, canvas)] : []),
    ...(drawn ? overlayFilters(drawn, canvas) : []),
    ...surroundings.after,
    "setsar=1",
    ...color.toTarget,
    ...(working.pixelFormat === target.pixelFormat ? [] : [`format=${target.pixelFormat}`]),
  ];
  return ok({ frame, activeArea, filters, tags: color.working.tags });
}

/**
 * Deinterlaces the frames that the decoder calls interlaced, with a single frame for each. Passes progressive frames
 * unchanged, so that mixed sources come out right.
 */
export function deinterlaceFilters(track: VideoTrack, { filters }: Pick<FfmpegCapabilities, "filters">): string[] {
  const name = DEINTERLACERS.find((deinterlacer) => filters.includes(deinterlacer)) ?? DEINTERLACERS[0];
  return [...fixedSizeFilters(track), `${name}=mode=send_frame:deint=interlaced`];
}

/**
 * Standard deviation of the Gaussian for `blur` 1–5, as a share of the shorter side. 1 is soft, about 3 makes faces
 * unrecognizable, and 5 leaves only colors. Our decision.
 */
const SIGMA_SHARE: Readonly<Record<number, number>> = { 1: 0.005, 2: 0.01, 3: 0.02, 4: 0.04, 5: 0.08 };

function blurFilters(step: number | undefined, { width, height }: Size): string[] {
  const share = SIGMA_SHARE[step ?? 0];
  return share === undefined ? [] : [`gblur=sigma=${Number((Math.min(width, height) * share).toFixed(2))}`];
}
