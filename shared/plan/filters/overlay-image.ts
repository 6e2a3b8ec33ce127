// Lays images with alpha over frames: watermarks, and captions that are images.
import type { Overlay } from "../command/filter-graph.ts";
import { type ColorTags, isHdr, scaleMatrix } from "../source/source-color.ts";
import { WHITE_NITS } from "./tone-map.ts";

/** Frames under an image. */
export type OverlayTarget = {
  /** Pixel format, by ffmpeg's name. */
  readonly pixelFormat: string;
  readonly tags: ColorTags;
};

/** Formats of `overlay` and of its image, by the format of the frames. */
const FORMATS: Readonly<Record<string, readonly [overlay: string, image: string]>> = {
  yuv420p: ["yuv420", "yuva420p"],
  yuv422p: ["yuv422", "yuva422p"],
  yuv444p: ["yuv444", "yuva444p"],
  yuv420p10le: ["yuv420p10", "yuva420p10le"],
  yuv422p10le: ["yuv422p10", "yuva422p10le"],
  gbrp: ["gbrp", "gbrap"],
  gbrap: ["gbrp", "gbrap"],
};

/** Format of `overlay` on such frames. */
export const overlayFormat = (pixelFormat: string): string => FORMATS[pixelFormat]?.[0] ?? "auto";

/** An image in sRGB, prepared by `filters`. `scale` and `place` are options of the filters `scale` and `overlay`. */
export type OverlayImage = Pick<Overlay, "imageUrl"> & {
  readonly filters: readonly string[];
  readonly scale: string;
  readonly place: string;
  /** Filters that change only the alpha. */
  readonly alphaFilters?: readonly string[];
};

export function imageOverlay(
  { imageUrl, filters, scale, place, alphaFilters = [] }: OverlayImage,
  target: OverlayTarget,
): Overlay {
  const [, imageFormat = "yuva420p"] = FORMATS[target.pixelFormat] ?? [];
  return {
    imageUrl,
    imageFilters: [
      ...filters,
      // Pixels are weighted by their alpha. Otherwise the color of transparent pixels would show at the edges.
      "format=gbrap",
      "premultiply=inplace=1",
      `scale=${scale}:flags=bicubic`,
      "unpremultiply=inplace=1",
      ...alphaFilters,
      ...colorFilters(target.tags, imageFormat),
      `format=${imageFormat}`,
    ],
    overlay: `overlay=${place}:format=${overlayFormat(target.pixelFormat)}`,
  };
}

/** Filters from sRGB to the matrix of the frames. In HDR the white of the image is the white of paper. */
function colorFilters(tags: ColorTags, imageFormat: string): string[] {
  const { matrix, primaries, transfer } = tags;
  if (imageFormat === "gbrap") return [];
  if (!isHdr(tags)) return [`scale=out_color_matrix=${scaleMatrix(matrix)}:out_range=tv`];
  return [
    `zscale=min=gbr:pin=bt709:tin=iec61966-2-1:rin=full:m=gbr:p=bt709:t=linear:npl=${WHITE_NITS}`,
    "format=gbrapf32le",
    `zscale=p=${primaries}:t=${transfer}:m=${matrix}:r=limited:npl=${WHITE_NITS}`,
    // zscale itself cannot subsample the chroma of an image with an odd side.
    "format=yuva444p10le",
  ];
}
