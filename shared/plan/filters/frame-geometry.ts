// The shape of a picture: turned, mirrored, cropped, scaled and padded.
import type { FrameSize } from "../../format/format-spec.ts";
import type { VideoTrack } from "../source/source-tracks.ts";
import { type Fit, type FittedFrame, fitFrame, type Ratio, type Size, squareSide } from "./fit-frame.ts";

/** What an output asks of the picture's shape. */
export type GeometryOptions = {
  readonly size: FrameSize;
  readonly fit: Fit;
  readonly square?: boolean;
  /** Quarter turns, as ffmpeg counts them. */
  readonly transpose: number | null;
  readonly vflip: boolean;
  readonly hflip: boolean;
};

/** Where the picture lands. `step` is 2 where sides must be even, else 1. */
export function fitGeometry(spec: GeometryOptions, { facts }: VideoTrack, step: 1 | 2): FittedFrame {
  const upright = { width: facts.displayWidth, height: facts.displayHeight };
  const source = spec.transpose === null ? upright : { width: upright.height, height: upright.width };
  if (!spec.square) return fitFrame(source, spec.size, step, spec.fit);
  const side = squareSide(source, spec.size);
  return fitFrame(source, { width: side, height: side }, step, "crop");
}

/** Turns, mirrors and crops the upright picture of the source. */
export function geometryFilters(spec: GeometryOptions, { crop }: FittedFrame): string[] {
  return [
    ...(spec.transpose === null ? [] : [`transpose=${spec.transpose}`]),
    ...(spec.vflip ? ["vflip"] : []),
    ...(spec.hflip ? ["hflip"] : []),
    ...(crop ? [`crop=${part("iw", crop.width)}:${part("ih", crop.height)}`] : []),
  ];
}

/** Scales to square pixels; further options of `scale` may follow. */
export const scaleTo = ({ width, height }: Size): string => `scale=${width}:${height}:flags=bicubic`;

/** Black beside the picture. */
export const padFilters = ({ frame, pad }: FittedFrame): string[] =>
  pad ? [`pad=${frame.width}:${frame.height}:${pad.x}:${pad.y}`] : [];

/**
 * The size at which pictures of the source come into the graph, held for filters that must not meet another: cropping and
 * turning would read beyond the edge of a smaller one. Costs nothing as long as the size is this one.
 */
export function fixedSizeFilter({ facts }: VideoTrack): string {
  const { codedWidth, codedHeight } = facts;
  return facts.rotation % 180 === 0 ? `scale=${codedWidth}:${codedHeight}` : `scale=${codedHeight}:${codedWidth}`;
}

/** In shares of the decoded frame, because its pixels need not be square. */
const part = (edge: string, [numerator, denominator]: Ratio): string =>
  numerator === denominator ? edge : `${edge}*${numerator}/${denominator}`;
