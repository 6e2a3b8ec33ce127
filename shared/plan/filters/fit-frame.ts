// Calculates frame sizes, and the placement of the source in a frame of the requested size.
import type { FrameSize } from "../../format/format-spec.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import type { Size } from "../source/frame-size.ts";

/** The source's image in its frame, in pixels. */
export type FittedFrame = {
  readonly frame: Size;
  /** Part of the frame that is not padding. */
  readonly activeArea: Size;
  /** Top left corner of the active area; null if it fills the frame. */
  readonly pad: { readonly x: number; readonly y: number } | null;
  /** Shown center part of the source, as shares of its width and height; null if all of it is shown. */
  readonly crop: { readonly width: Ratio; readonly height: Ratio } | null;
};

/** A fraction in lowest terms. */
export type Ratio = readonly [numerator: number, denominator: number];

export type Fit = VideoOutput["fit"];

/** Smallest side, except if an image of that size is requested. */
const SMALLEST_SIDE = 2;

/**
 * Fits the source into the requested size and keeps the aspect ratio. With both sides: a box of that size. The rest is
 * padded, with `crop` a part of the source fills the box, and with `stretch` all of it does. With a single side: the
 * other side follows. Without sides: the size of the source.
 * `source`: the source's display size, rotated, with square pixels. `step`: 2 for video, because the chroma planes of
 * 4:2:0 need even sides (odd sides go to the nearest even number, halves up). 1 for images, which have exactly the
 * requested size.
 */
export function fitFrame(source: Size, requested: FrameSize, step: 1 | 2, fit: Fit = "pad"): FittedFrame {
  const frame = frameSize(source, requested, step);
  const isBox = requested.width !== null && requested.height !== null;
  if (isBox && fit === "stretch") return { frame, activeArea: frame, pad: null, crop: null };
  if (isBox && fit === "crop") return { frame, activeArea: frame, pad: null, crop: cropTo(frame, source) };
  const activeArea = isBox ? fitInside(source, frame, step) : frame;
  const spare = { x: frame.width - activeArea.width, y: frame.height - activeArea.height };
  const pad = spare.x || spare.y ? { x: half(spare.x, step), y: half(spare.y, step) } : null;
  return { frame, activeArea, pad, crop: null };
}

/** Part of the source with the frame's shape. Differences below half a pixel of the frame are not cropped. */
function cropTo(frame: Size, source: Size): FittedFrame["crop"] {
  const [wide, tall] = [source.width * frame.height, source.height * frame.width];
  if (Math.abs(wide - tall) < 0.5 * Math.max(source.width, source.height)) return null;
  const full: Ratio = [1, 1];
  return wide > tall ? { width: ratio(tall, wide), height: full } : { width: full, height: ratio(wide, tall) };
}

function ratio(numerator: number, denominator: number): Ratio {
  const divisor = greatestDivisor(numerator, denominator);
  return [numerator / divisor, denominator / divisor];
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/**
 * Side of a square image, in pixels: the requested width, else the height, else the shorter side of the source. A
 * square image shows the center square of the source, so nothing is padded.
 */
export function squareSide(source: Size, requested: FrameSize): number {
  return requested.width ?? requested.height ?? Math.max(SMALLEST_SIDE, Math.min(source.width, source.height));
}

function frameSize(source: Size, requested: FrameSize, step: number): Size {
  const { width, height } = requested;
  if (width !== null && height !== null) return { width: side(width, step), height: side(height, step) };
  if (width !== null) {
    return { width: side(width, step), height: automatic((source.height * width) / source.width, step) };
  }
  if (height !== null) {
    return { width: automatic((source.width * height) / source.height, step), height: side(height, step) };
  }
  return { width: automatic(source.width, step), height: automatic(source.height, step) };
}

/** Compares products rather than quotients, so that the side that fills its box does so to the pixel. */
function fitInside(source: Size, box: Size, step: number): Size {
  const wider = source.width * box.height >= source.height * box.width;
  return wider
    ? { width: box.width, height: inner((source.height * box.width) / source.width, box.height, step) }
    : { width: inner((source.width * box.height) / source.height, box.width, step), height: box.height };
}

const nearest = (pixels: number, step: number): number => Math.round(pixels / step) * step;
const side = (pixels: number, step: number): number => Math.max(step, nearest(pixels, step));
const automatic = (pixels: number, step: number): number => Math.max(SMALLEST_SIDE, nearest(pixels, step));
const inner = (pixels: number, limit: number, step: number): number => Math.min(limit, automatic(pixels, step));
/** Puts the corner of the active area on the chroma grid. Otherwise ffmpeg would move it there. */
const half = (spare: number, step: number): number => Math.floor(spare / 2 / step) * step;
