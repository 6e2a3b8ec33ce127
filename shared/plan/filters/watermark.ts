// A mark in a corner of the picture, as large in each rendition as in the others.
import type { VideoOutput } from "../../job/output-spec.ts";
import type { Overlay } from "../command/filter-graph.ts";
import { quoted } from "../command/filter-text.ts";
import { type ColorTags, scaleMatrix } from "../source/source-color.ts";
import type { Size } from "./fit-frame.ts";
import { WHITE_NITS } from "./tone-map.ts";

export type Watermark = NonNullable<VideoOutput["watermark"]>;

/** What the picture is when the mark is laid on it. */
export type OverlayTarget = {
  readonly size: Size;
  /** By ffmpeg's name. */
  readonly pixelFormat: string;
  readonly tags: ColorTags;
};

/** A mark is shown in its own pixels on a picture whose shorter side is this, and in proportion on others. Our decision. */
const REFERENCE_SIDE = 1080;
/** Of the picture's width and height: no mark takes more. */
const LARGEST_SHARE = 0.5;
/** Distance from the edges, as a share of the shorter side; even, so that it falls on the colour grid. */
const MARGIN_SHARE = 0.02;

/** Formats of `overlay` and of a mark for it, by the picture's. */
const FORMATS: Readonly<Record<string, readonly [overlay: string, mark: string]>> = {
  yuv420p: ["yuv420", "yuva420p"],
  yuv422p: ["yuv422", "yuva422p"],
  yuv444p: ["yuv444", "yuva444p"],
  yuv420p10le: ["yuv420p10", "yuva420p10le"],
  yuv422p10le: ["yuv422p10", "yuva422p10le"],
  gbrp: ["gbrp", "gbrap"],
  gbrap: ["gbrp", "gbrap"],
};

/** Lays the first picture of a mark's file over a picture. */
export function watermarkOverlay({ url, position }: Watermark, ground: OverlayTarget): Overlay {
  const [overlayFormat = "auto", markFormat = "yuva420p"] = FORMATS[ground.pixelFormat] ?? [];
  const { size } = ground;
  const shorter = Math.min(size.width, size.height);
  const margin = 2 * Math.round((shorter * MARGIN_SHARE) / 2);
  const limits = [size.width, size.height].map((side) => Math.max(1, Math.floor(side * LARGEST_SHARE)));
  const factor = `min(${shorter}/${REFERENCE_SIDE},min(${limits[0]}/iw,${limits[1]}/ih))`;
  const x = position.endsWith("left") ? margin : `W-w-${margin}`;
  const y = position.startsWith("top") ? margin : `H-h-${margin}`;
  return {
    imageUrl: url,
    imageFilters: [
      // A mark that moves, of any rate, is one still picture; its clock must not make the film's finer.
      ...["trim=end_frame=1", "settb=1"],
      // Scaled with each pixel weighed by its alpha: what is hidden would shine through at the edges.
      ...["format=gbrap", "premultiply=inplace=1"],
      `scale=w=${quoted(`max(1,round(iw*${factor}))`)}:h=${quoted(`max(1,round(ih*${factor}))`)}:flags=bicubic`,
      "unpremultiply=inplace=1",
      ...colourFilters(ground.tags, markFormat),
      `format=${markFormat}`,
    ],
    overlay: `overlay=x=${x}:y=${y}:format=${overlayFormat}`,
  };
}

/** From sRGB into the picture's matrix; in HDR its white is the white of paper. */
function colourFilters({ matrix, primaries, transfer }: ColorTags, markFormat: string): string[] {
  if (markFormat === "gbrap") return [];
  if (transfer !== "smpte2084" && transfer !== "arib-std-b67") {
    return [`scale=out_color_matrix=${scaleMatrix(matrix)}:out_range=tv`];
  }
  return [
    `zscale=min=gbr:pin=bt709:tin=iec61966-2-1:rin=full:m=gbr:p=bt709:t=linear:npl=${WHITE_NITS}`,
    "format=gbrapf32le",
    `zscale=p=${primaries}:t=${transfer}:m=${matrix}:r=limited:npl=${WHITE_NITS}`,
    // zscale itself cannot halve the colour of a mark with an odd side.
    "format=yuva444p10le",
  ];
}
