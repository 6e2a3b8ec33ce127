// Filters that rotate, flip, crop, scale and pad frames.
import type { FrameSize } from "../../format/format-spec.ts";
import type { Size } from "../source/frame-size.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { type Fit, type FittedFrame, fitFrame, type Ratio, squareSide } from "./fit-frame.ts";

/** The geometry that an output requests. */
export type GeometryOptions = {
  readonly size: FrameSize;
  readonly fit: Fit;
  readonly square?: boolean;
  /** Quarter turns, as ffmpeg counts them. */
  readonly transpose: number | null;
  readonly vflip: boolean;
  readonly hflip: boolean;
};

/** The size and placement of the output's frames. `step` is 2 if sides must be even, else 1. */
export function fitGeometry(options: GeometryOptions, { facts }: VideoTrack, step: 1 | 2): FittedFrame {
  const { displayWidth, displayHeight } = facts;
  const source =
    options.transpose === null
      ? { width: displayWidth, height: displayHeight }
      : { width: displayHeight, height: displayWidth };
  if (!options.square) return fitFrame(source, options.size, step, options.fit);
  const side = squareSide(source, options.size);
  return fitFrame(source, { width: side, height: side }, step, "crop");
}

/** Rotates, flips and crops the frames. ffmpeg has already applied the source's own rotation. */
export function geometryFilters(options: GeometryOptions, { crop }: FittedFrame): string[] {
  return [
    ...(options.transpose === null ? [] : [`transpose=${options.transpose}`]),
    ...(options.vflip ? ["vflip"] : []),
    ...(options.hflip ? ["hflip"] : []),
    ...(crop ? [`crop=${cropSide("iw", crop.width)}:${cropSide("ih", crop.height)}`] : []),
  ];
}

/** Scales to square pixels. Further options of `scale` may follow. */
export const scaleTo = ({ width, height }: Size): string => `scale=${width}:${height}:flags=bicubic`;

/** Pads the active area with black. */
export const padFilters = ({ frame, pad }: FittedFrame): string[] =>
  pad ? [`pad=${frame.width}:${frame.height}:${pad.x}:${pad.y}`] : [];

/**
 * Scales frames to the size that the source states, for filters whose input must not change its size: cropping and
 * rotating would read beyond the edge of a smaller frame. Costs nothing as long as frames have this size.
 */
export function fixedSizeFilter({ facts }: VideoTrack): string {
  const { codedWidth, codedHeight } = facts;
  return facts.rotation % 180 === 0 ? `scale=${codedWidth}:${codedHeight}` : `scale=${codedHeight}:${codedWidth}`;
}

/** A share of the decoded frame rather than a number of pixels, because the source's pixels need not be square. */
const cropSide = (edge: string, [numerator, denominator]: Ratio): string =>
  numerator === denominator ? edge : `${edge}*${numerator}/${denominator}`;
