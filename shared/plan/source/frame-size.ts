// The largest frames of sources and outputs. A node must hold several frames in memory.
import type { Failure } from "../../errors.ts";
import type { VideoTrack } from "./source-tracks.ts";

/** In pixels. */
export type Size = { readonly width: number; readonly height: number };

const MAX_SIDE = 8192;
const MAX_PIXELS = 36_000_000;

/** Returns the reason why a frame of this size cannot be made from this source; null if it can. */
export function frameSizeFailure({ facts }: VideoTrack, frame: Size): Failure | null {
  const coded = { width: facts.codedWidth, height: facts.codedHeight };
  if (isTooLarge(coded)) return failure(`The input's video has frames of ${text(coded)} pixels`);
  return isTooLarge(frame) ? failure(`The output's frames would have ${text(frame)} pixels`) : null;
}

const isTooLarge = ({ width, height }: Size): boolean =>
  width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS;

const text = ({ width, height }: Size): string => `${width}x${height}`;

const failure = (what: string): Failure => ({
  code: "output_size_not_possible",
  message: `${what}; at most ${MAX_SIDE} on a side and ${MAX_PIXELS / 1e6} million in all are possible.`,
});
