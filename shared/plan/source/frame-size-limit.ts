// How large pictures may be: what a node can hold in memory several times over.
import type { Failure } from "../../errors.ts";
import type { Size } from "../filters/fit-frame.ts";
import type { VideoTrack } from "./source-tracks.ts";

const MAX_SIDE = 8192;
const MAX_PIXELS = 36_000_000;

/**
 * Value of `-max_pixels`: what a decoder refuses, whatever the file's header says. Above the planner's own limit, because
 * decoders count the borders that they add.
 */
export const MAX_DECODED_PIXELS = 40_000_000;

/** Why a picture of this size cannot be made from this source; null when it can. */
export function frameSizeFailure({ facts }: VideoTrack, frame: Size): Failure | null {
  const coded = { width: facts.codedWidth, height: facts.codedHeight };
  if (isTooLarge(coded)) return failure(`The input's picture is ${text(coded)} pixels`);
  return isTooLarge(frame) ? failure(`The output's picture would be ${text(frame)} pixels`) : null;
}

const isTooLarge = ({ width, height }: Size): boolean =>
  width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS;

const text = ({ width, height }: Size): string => `${width}x${height}`;

const failure = (what: string): Failure => ({
  code: "output_size_not_possible",
  message: `${what}; at most ${MAX_SIDE} on a side and ${MAX_PIXELS / 1e6} million in all are possible.`,
});
