// The arithmetic of picture sizes: where the source's picture lands in the frame that was asked for.
import type { FrameSize } from "../../format/format-spec.ts";
import type { FITS } from "../../job/output-spec.ts";

/** In pixels. */
export type Size = { readonly width: number; readonly height: number };

/** A picture inside its frame, in pixels. */
export type FittedFrame = {
  readonly frame: Size;
  readonly activeArea: Size;
  /** The picture's top left corner; null when it fills the frame. */
  readonly pad: { readonly x: number; readonly y: number } | null;
  /** The centre of the source that is shown, in shares of its width and height; null when all of it is. */
  readonly crop: { readonly width: Ratio; readonly height: Ratio } | null;
};

/** A fraction in lowest terms. */
export type Ratio = readonly [numerator: number, denominator: number];

export type Fit = (typeof FITS)[number];

/** No side is made smaller than this, unless an image is asked to be. */
const SMALLEST_SIDE = 2;

/**
 * Fits the source into the size asked for, aspect kept. Two sides given: a box of that size, the rest padded, or with
 * `crop` filled by the centre of the source. One side: the other follows. None: the source's size.
 *
 * `source` is the upright picture with square pixels. `step` is 2 for video, whose 4:2:0 colour planes need even sides
 * (odd ones go to the nearest even number, halves up), and 1 for images, which are exactly as large as asked.
 */
export function fitFrame(source: Size, asked: FrameSize, step: 1 | 2, fit: Fit = "pad"): FittedFrame {
  const frame = frameSize(source, asked, step);
  const isBox = asked.width !== null && asked.height !== null;
  if (isBox && fit === "crop") return { frame, activeArea: frame, pad: null, crop: cropTo(frame, source) };
  const picture = isBox ? fitInside(source, frame, step) : frame;
  const spare = { x: frame.width - picture.width, y: frame.height - picture.height };
  const pad = spare.x || spare.y ? { x: half(spare.x, step), y: half(spare.y, step) } : null;
  return { frame, activeArea: picture, pad, crop: null };
}

/** What of the source has the frame's shape; nothing is cut off for less than half a pixel of the frame. */
function cropTo(frame: Size, source: Size): FittedFrame["crop"] {
  const [wide, tall] = [source.width * frame.height, source.height * frame.width];
  if (Math.abs(wide - tall) < 0.5 * Math.max(source.width, source.height)) return null;
  const whole: Ratio = [1, 1];
  return wide > tall ? { width: share(tall, wide), height: whole } : { width: whole, height: share(wide, tall) };
}

function share(numerator: number, denominator: number): Ratio {
  const divisor = greatestDivisor(numerator, denominator);
  return [numerator / divisor, denominator / divisor];
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/**
 * The side of a square image, in pixels: the width asked for, else the height, else the source's shorter side. It shows
 * the centre square of the source, so nothing is padded.
 */
export function squareSide(source: Size, asked: FrameSize): number {
  return asked.width ?? asked.height ?? Math.max(SMALLEST_SIDE, Math.min(source.width, source.height));
}

function frameSize(source: Size, asked: FrameSize, step: number): Size {
  const { width, height } = asked;
  if (width !== null && height !== null) return { width: side(width, step), height: side(height, step) };
  if (width !== null) {
    return { width: side(width, step), height: automatic((source.height * width) / source.width, step) };
  }
  if (height !== null) {
    return { width: automatic((source.width * height) / source.height, step), height: side(height, step) };
  }
  return { width: automatic(source.width, step), height: automatic(source.height, step) };
}

/** Products are compared, not quotients, so that the side that fills its box does so to the pixel. */
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
/** The picture's corner lies on the colour grid too: ffmpeg would move it there by itself, unasked. */
const half = (spare: number, step: number): number => Math.floor(spare / 2 / step) * step;
