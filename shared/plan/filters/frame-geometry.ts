// Filters that rotate, flip, crop, scale and pad frames.
import type { FrameSize } from "../../format/format-spec.ts";
import type { Crop } from "../../parameters/crop.ts";
import { quoted } from "../command/filter-text.ts";
import type { Size } from "../source/frame-size.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { cropFilters, decodedSize, shownSize } from "./crop-source.ts";
import { type Fit, type FittedFrame, fitFrame, type Ratio, squareSide } from "./fit-frame.ts";

/** Geometry that an output requests. */
export type GeometryOptions = {
  readonly size: FrameSize;
  readonly fit: Fit;
  readonly square?: boolean;
  /** The shown part of the source, before the rotation. */
  readonly crop?: Crop | undefined;
  /** The part that `fit: crop` and `square` keep, from 0 to 1. */
  readonly crop_focus?: { readonly x: number; readonly y: number } | undefined;
  /** Quarter turns, as ffmpeg counts them. */
  readonly transpose?: number | undefined;
  readonly vflip: boolean;
  readonly hflip: boolean;
};

/** Size and placement of the output's frames. `step` is 2 if sides must be even, else 1. */
export function fitGeometry(options: GeometryOptions, track: VideoTrack, step: 1 | 2): FittedFrame {
  const source = rotatedSize(options, track);
  if (!options.square) return fitFrame(source, options.size, step, options.fit);
  const side = squareSide(source, options.size);
  return fitFrame(source, { width: side, height: side }, step, "crop");
}

/** Display size of the shown part of the source, rotated as the output requests. */
export function rotatedSize({ crop, transpose }: GeometryOptions, track: VideoTrack): Size {
  const { width, height } = shownSize(crop, track);
  return transpose === undefined ? { width, height } : { width: height, height: width };
}

/** Crops, rotates and flips the frames. ffmpeg has already applied the source's own rotation. */
export function geometryFilters(options: GeometryOptions, { crop }: FittedFrame, track: VideoTrack): string[] {
  return [
    ...cropFilters(options.crop, track),
    ...(options.transpose === undefined ? [] : [`transpose=${options.transpose}`]),
    ...(options.vflip ? ["vflip"] : []),
    ...(options.hflip ? ["hflip"] : []),
    ...(crop ? [`crop=${cropSide("iw", crop.width)}:${cropSide("ih", crop.height)}${focusOf(options)}`] : []),
  ];
}

/** Scales to square pixels, for any shape of the frames. Further options of `scale` may follow. */
export const scaleTo = ({ width, height }: Size): string => `scale=${width}:${height}:flags=bicubic`;

/** Frames that a filter scales. */
export type Scaled = {
  readonly size: Size;
  /** Shape of the source's frames; null: all frames have the same shape. */
  readonly shape: Shape | null;
  /** 2 if sides must be even, else 1. */
  readonly step: 1 | 2;
};

/**
 * Scales to square pixels. If the shape changes within the source, frames of another shape are scaled to fit and get
 * black bars. For all other frames this does the same as `scaleTo`.
 */
export function scaleFilters({ size, shape, step }: Scaled, options: readonly string[]): string[] {
  if (shape === null) return [[scaleTo(size), ...options].join(":")];
  return fitFilters(size, { shape, step, pixelRatio: 1 }, ["flags=bicubic", ...options]);
}

/** Display shape of frames. `ratio`: width by height. `tolerance`: relative difference between frames of this shape. */
export type Shape = { readonly ratio: number; readonly tolerance: number };

/** 1080 lines may be stored as 1088. */
const SAME_SHAPE = 0.01;

/** Shape of the source's frames. */
export function shapeOf({ facts }: VideoTrack): Shape {
  const { displayWidth, displayHeight } = facts;
  const rounding = 1 / Math.min(displayWidth, displayHeight);
  return { ratio: displayWidth / displayHeight, tolerance: Math.max(SAME_SHAPE, rounding) };
}

type Fitting = Pick<Scaled, "step"> & { readonly shape: Shape; readonly pixelRatio: number };

/** `pixelRatio`: width by height of the scaled pixels. */
function fitFilters(
  { width, height }: Size,
  { shape, step, pixelRatio }: Fitting,
  options: readonly string[],
): string[] {
  const { ratio, tolerance } = shape;
  const same = `between(dar,${decimal(ratio * (1 - tolerance))},${decimal(ratio * (1 + tolerance))})`;
  const sampleAspect = pixelRatio === 1 ? "dar" : `(dar/${decimal(pixelRatio)})`;
  const side = (full: number, fitted: string): string =>
    quoted(`if(${same},${full},clip(${step}*round(${fitted}/${step}),${step},${full}))`);
  const sides = [`w=${side(width, `${height}*${sampleAspect}`)}`, `h=${side(height, `${width}/${sampleAspect}`)}`];
  return [`scale=${[...sides, "eval=frame", ...options].join(":")}`, `pad=${width}:${height}:-1:-1:eval=frame`];
}

const decimal = (value: number): string => String(Number(value.toFixed(6)));

/**
 * Gives all frames the size that the source states, for filters whose input must not change its size. Cropping and
 * rotating would read beyond the edge of a smaller frame.
 */
export function fixedSizeFilters(track: VideoTrack): string[] {
  const { width, height } = decodedSize(track.facts);
  const shape = shapeOf(track);
  return fitFilters({ width, height }, { shape, step: 1, pixelRatio: (shape.ratio * height) / width }, []);
}

/** A share of the decoded frame rather than a number of pixels, because the source's pixels need not be square. */
const cropSide = (edge: string, [numerator, denominator]: Ratio): string =>
  numerator === denominator ? edge : `${edge}*${numerator}/${denominator}`;

/** Place of the part that is kept; by default the center. */
function focusOf({ crop_focus: focus = CENTER }: GeometryOptions): string {
  return focus.x === CENTER.x && focus.y === CENTER.y ? "" : `:(iw-ow)*${decimal(focus.x)}:(ih-oh)*${decimal(focus.y)}`;
}

const CENTER = { x: 0.5, y: 0.5 };
