// A watermark in a corner of the frame, of the same relative size in all renditions.
import type { VideoOutput } from "../../job/output-spec.ts";
import type { Overlay } from "../command/filter-graph.ts";
import { quoted } from "../command/filter-text.ts";
import type { Size } from "../source/frame-size.ts";
import { type ColorTags, isHdr, scaleMatrix } from "../source/source-color.ts";
import { WHITE_NITS } from "./tone-map.ts";

export type Watermark = NonNullable<VideoOutput["watermark"]>;

/** The frames that the watermark is laid over. */
export type OverlayTarget = {
  readonly size: Size;
  /** By ffmpeg's name. */
  readonly pixelFormat: string;
  readonly tags: ColorTags;
};

/**
 * On frames whose shorter side is this, a watermark has its own size in pixels; on others it is scaled. Our decision.
 */
const REFERENCE_SIDE = 1080;
/** No watermark takes more than this share of the width or height. */
const LARGEST_SHARE = 0.5;
/**
 * Distance from the edges, as a share of the shorter side. It is rounded to an even number, to be on the chroma grid.
 */
const MARGIN_SHARE = 0.02;

/** The formats of `overlay` and of its image, by the format of the frames. */
const FORMATS: Readonly<Record<string, readonly [overlay: string, image: string]>> = {
  yuv420p: ["yuv420", "yuva420p"],
  yuv422p: ["yuv422", "yuva422p"],
  yuv444p: ["yuv444", "yuva444p"],
  yuv420p10le: ["yuv420p10", "yuva420p10le"],
  yuv422p10le: ["yuv422p10", "yuva422p10le"],
  gbrp: ["gbrp", "gbrap"],
  gbrap: ["gbrp", "gbrap"],
};

/** Lays the first frame of a watermark's file over all frames. */
export function watermarkOverlay({ url, position }: Watermark, target: OverlayTarget): Overlay {
  const [overlayFormat = "auto", imageFormat = "yuva420p"] = FORMATS[target.pixelFormat] ?? [];
  const { size } = target;
  const shorter = Math.min(size.width, size.height);
  const margin = 2 * Math.round((shorter * MARGIN_SHARE) / 2);
  const limits = [size.width, size.height].map((side) => Math.max(1, Math.floor(side * LARGEST_SHARE)));
  const factor = `min(${shorter}/${REFERENCE_SIDE},min(${limits[0]}/iw,${limits[1]}/ih))`;
  const x = position.endsWith("left") ? margin : `W-w-${margin}`;
  const y = position.startsWith("top") ? margin : `H-h-${margin}`;
  return {
    imageUrl: url,
    imageFilters: [
      // An animated watermark becomes one still image; its time base must not make the video's finer.
      "trim=end_frame=1",
      "settb=1",
      // Pixels are weighted by their alpha, or the color of transparent pixels would show at the edges.
      "format=gbrap",
      "premultiply=inplace=1",
      `scale=w=${quoted(`max(1,round(iw*${factor}))`)}:h=${quoted(`max(1,round(ih*${factor}))`)}:flags=bicubic`,
      "unpremultiply=inplace=1",
      ...colorFilters(target.tags, imageFormat),
      `format=${imageFormat}`,
    ],
    overlay: `overlay=x=${x}:y=${y}:format=${overlayFormat}`,
  };
}

/** From sRGB to the matrix of the frames. In HDR the white of the watermark is the white of paper. */
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
