// Parameters of frames that are valid alone and contradict each other.
import type { FrameSize } from "../../format/format-spec.ts";

type FrameParams = {
  readonly fit?: string | undefined;
  readonly pad_color?: string | undefined;
  readonly crop_focus?: object | undefined;
  readonly square?: boolean;
};

/** Returns the conflict, to append to the path of the output; null if there is none. `sizes`: of all its videos. */
export function frameConflict(params: FrameParams, sizes: readonly FrameSize[]): string | null {
  const { fit, pad_color, crop_focus, square = false } = params;
  if (fit === "blur" && !sizes.every(({ width, height }) => width !== null && height !== null)) {
    return ".fit` requires a size with two sides for blur, such as 1080x1920";
  }
  if (pad_color !== undefined && fit !== "pad") return ".pad_color` requires `fit: pad`";
  return crop_focus !== undefined && fit !== "crop" && !square
    ? ".crop_focus` requires `fit: crop`, or `square` for images"
    : null;
}
