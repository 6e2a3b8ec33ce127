// The frame sizes of codecs that do not support all sizes.
import type { Failure } from "../../errors.ts";
import type { VideoCodec } from "../../format/codecs.ts";
import type { FrameSize } from "../../format/format-spec.ts";
import type { Size } from "../source/frame-size.ts";

/** Frame sizes of H.263 (ITU-T H.263 table 4): sub-QCIF, QCIF, CIF, 4CIF, 16CIF. */
const H263_SIZES: readonly Size[] = [
  { width: 128, height: 96 },
  { width: 176, height: 144 },
  { width: 352, height: 288 },
  { width: 704, height: 576 },
  { width: 1408, height: 1152 },
];

/** Largest size that players of 3gp know (3GPP TS 26.234 requires QCIF). */
const CIF: Size = { width: 352, height: 288 };

/**
 * Returns the smallest size of H.263 that holds this size, or else its largest size. The video is fitted into it. At
 * most CIF if no size is requested.
 */
export function h263Size({ width, height }: Size, requested: FrameSize): Size {
  const isRequested = requested.width !== null || requested.height !== null;
  const sizes = isRequested ? H263_SIZES : H263_SIZES.filter((size) => size.width <= CIF.width);
  return sizes.find((size) => size.width >= width && size.height >= height) ?? sizes.at(-1) ?? CIF;
}

/** Smallest frame of ffmpeg's DNxHR encoder, in pixels. */
const DNXHR_MIN: Size = { width: 256, height: 120 };

/** Returns the reason why DNxHD does not support frames of this size. Null if it does, and for other codecs. */
export function dnxhdFailure(codec: VideoCodec, { width, height }: Size): Failure | null {
  if (codec !== "dnxhd" || (width >= DNXHR_MIN.width && height >= DNXHR_MIN.height)) return null;
  const message = `DNxHD needs at least ${DNXHR_MIN.width}x${DNXHR_MIN.height} pixels, this would be ${width}x${height}.`;
  return { code: "output_size_not_possible", message };
}
