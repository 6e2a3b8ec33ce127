// The filters between decoder and encoder, the same for videos and images, in the order of docs/video.md.
import type { VideoOutput } from "../../job/output-spec.ts";
import { err, ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { Filter, Overlay } from "../command/filter-graph.ts";
import { quoted } from "../command/filter-text.ts";
import { frameSizeFailure, type Size } from "../source/frame-size.ts";
import type { ColorTags } from "../source/source-color.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { isLaidOver, surroundingFilters } from "./backdrop.ts";
import { type BurnIn, burnFilters } from "./burn-in.ts";
import { colorSteps, drawingFormat, premultiplies, type TargetFormat } from "./color-conversion.ts";
import { cropFailure } from "./crop-source.ts";
import { DEINTERLACERS } from "./filter-needs.ts";
import type { FittedFrame } from "./fit-frame.ts";
import { fitGeometry, fixedSizeFilters, type GeometryOptions, geometryFilters, shapeOf } from "./frame-geometry.ts";
import { imageOverlay, type OverlayTarget } from "./overlay-image.ts";

export type VideoFilterOptions = GeometryOptions & {
  readonly watermark: Watermark | null;
  /** Color of bars; black by default. */
  readonly pad_color?: string | undefined;
  /** 1 to 5, strongest last. */
  readonly blur?: number | undefined;
  /** Captions; null: none. */
  readonly burnIn?: BurnIn | null;
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
  const { watermark, blur, burnIn = null } = options;
  const isDrawnOn = watermark !== null || blur !== undefined || burnIn !== null || isLaidOver(options, fitted);
  const working = isDrawnOn ? { ...target, pixelFormat: drawingFormat(target) } : target;
  const geometry = geometryFilters(options, fitted, track);
  const isFixed = geometry.length > 0 || premultiplies(track.color, working);
  const scaled = {
    size: activeArea,
    shape: isFixed || options.fit === "stretch" ? null : shapeOf(track),
    step: target.step,
  };
  const color = colorSteps(track.color, working, scaled);
  const overlay = watermark && watermarkOverlay(watermark, activeArea, color.working);
  const surroundings = surroundingFilters(options, fitted, color.working, burnIn);
  const failure = cropFailure(options.crop, track) ?? frameSizeFailure(track, frame);
  if (failure) return err(failure);
  const filters: Filter[] = [
    ...(isFixed ? fixedSizeFilters(track) : []),
    ...geometry,
    ...color.toWorking,
    ...blurFilters(blur, activeArea),
    ...surroundings.before,
    ...(burnIn ? burnFilters(burnIn, { ...color.working, size: activeArea, step: target.step }) : []),
    ...(overlay ? [overlay] : []),
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

/** A watermark in a corner of the frame, of the same relative size in all renditions. */
type Watermark = NonNullable<VideoOutput["watermark"]>;

/**
 * A watermark has its own size in pixels on frames whose shorter side is this. On other frames it is scaled. Our
 * decision.
 */
const REFERENCE_SIDE = 1080;
/** Largest share of the width or height for a watermark. */
const LARGEST_SHARE = 0.5;
/**
 * Distance from the edges, as a share of the shorter side. It is rounded to an even number, to be on the chroma grid.
 */
const MARGIN_SHARE = 0.02;

/** Lays the first frame of a watermark's file over all frames. */
function watermarkOverlay({ url, position }: Watermark, size: Size, target: OverlayTarget): Overlay {
  const shorter = Math.min(size.width, size.height);
  const margin = 2 * Math.round((shorter * MARGIN_SHARE) / 2);
  const limits = [size.width, size.height].map((side) => Math.max(1, Math.floor(side * LARGEST_SHARE)));
  const factor = `min(${shorter}/${REFERENCE_SIDE},min(${limits[0]}/iw,${limits[1]}/ih))`;
  const x = position.endsWith("left") ? margin : `W-w-${margin}`;
  const y = position.startsWith("top") ? margin : `H-h-${margin}`;
  return imageOverlay(
    {
      imageUrl: url,
      // An animated watermark becomes a single still image. Its time base must not make the video's time base finer.
      filters: ["trim=end_frame=1", "settb=1"],
      scale: `w=${quoted(`max(1,round(iw*${factor}))`)}:h=${quoted(`max(1,round(ih*${factor}))`)}`,
      place: `x=${x}:y=${y}`,
    },
    target,
  );
}
