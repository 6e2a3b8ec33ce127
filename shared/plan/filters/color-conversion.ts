// The filters that convert the colors of the source to the colors of the target.

import { type ColorTags, type SourceColor, scaleMatrix } from "../source/source-color.ts";
import { type Scaled, scaleFilters } from "./frame-geometry.ts";
import { toneMapFilters } from "./tone-map.ts";

/** Frames for an encoder. */
export type TargetFormat = {
  /**
   * Pixel format, by ffmpeg's name. YUV has limited range, and the matrix of the source if it has a matrix. `yuvj…` has
   * full range and the matrix of BT.601, as JPEG (JFIF) defines it.
   */
  readonly pixelFormat: string;
  /** True if players assume BT.709, no matter what the file states. */
  readonly onlyBt709?: boolean;
  /** 2 if sides must be even. */
  readonly step: 1 | 2;
};

export type ColorSteps = {
  /** Scales to the size of the active area and converts to the working format. */
  readonly toWorking: readonly string[];
  /** Format in which frames are blurred, overlaid and padded. */
  readonly working: { readonly pixelFormat: string; readonly tags: ColorTags };
  readonly toTarget: readonly string[];
};

type Coding = "video" | "jpeg" | "rgb";

/** Start of the conversion to a video or RGB format. */
type Conversion = {
  readonly source: SourceColor;
  readonly target: TargetFormat;
  readonly scaled: Scaled;
  readonly toneMaps: boolean;
  readonly hasAlpha: boolean;
  /** Filters that come first. */
  readonly before: readonly string[];
};

const BT709: ColorTags = { matrix: "bt709", primaries: "bt709", transfer: "bt709" };

/** Converts a source's colors to a target's, before and after the scaling. */
export function colorSteps(source: SourceColor, target: TargetFormat, scaled: Scaled): ColorSteps {
  const hasAlpha = /^(yuva|rgba|bgra|argb|abgr|gbrap)/.test(target.pixelFormat);
  const isDeep = /(10|12|14|16)(le|be)$/.test(target.pixelFormat);
  const isVideo = codingOf(target) === "video";
  const keepsDynamics = isDeep && isVideo && !target.onlyBt709;
  const before = [
    ...(source.assumed.length > 0 ? [`setparams=${source.assumed.join(":")}`] : []),
    ...(source.hasAlpha && !hasAlpha ? flattenFilters(source) : []),
  ];
  const toneMaps = source.dynamics !== "standard" && !keepsDynamics;
  const conversion = { source, target, scaled, toneMaps, hasAlpha, before };
  return isVideo ? videoSteps(conversion) : rgbSteps(conversion);
}

/** True if a filter weights pixels by their alpha. That filter keeps the initial size of the frames. */
export const premultiplies = ({ hasAlpha }: SourceColor, { pixelFormat }: TargetFormat): boolean =>
  hasAlpha && !pixelFormat.startsWith("yuva");

function codingOf({ pixelFormat }: TargetFormat): Coding {
  if (pixelFormat.startsWith("yuvj")) return "jpeg";
  return /^(gbr|rgb|bgr|argb|abgr)/.test(pixelFormat) ? "rgb" : "video";
}

/** Transparent pixels become black. */
const flattenFilters = ({ isDeep }: SourceColor): string[] => [
  `format=${isDeep ? "gbrap12le" : "gbrap"}`,
  "premultiply=inplace=1",
  `format=${isDeep ? "gbrp12le" : "gbrp"}`,
];

function videoSteps({ source, target, scaled, toneMaps, before }: Conversion): ColorSteps {
  const { pixelFormat, onlyBt709 = false } = target;
  const tags = onlyBt709 ? BT709 : source.tags;
  const fromRgb = source.isRgb || before.some((filter) => filter.startsWith("premultiply"));
  const converts = fromRgb || tags.matrix !== source.tags.matrix;
  const options = [
    ...(converts ? [`out_color_matrix=${scaleMatrix(tags.matrix)}`] : []),
    ...(fromRgb || source.isFullRange ? ["out_range=tv"] : []),
  ];
  const scale = scaleFilters(scaled, toneMaps ? [] : options);
  const mapped = toneMaps ? toneMapFilters(source, "bt709") : [];
  // ffmpeg 5.1 does not tag frames that it converts from RGB. ffmpeg 7.0 forgets the matrix of sources with full range.
  const tagged = options.length > 0 && !toneMaps ? [`setparams=range=tv:colorspace=${tags.matrix}`] : [];
  return {
    toWorking: [...before, ...scale, ...mapped, `format=${pixelFormat}`, ...tagged],
    working: { pixelFormat, tags: toneMaps ? BT709 : tags },
    toTarget: [],
  };
}

function rgbSteps({ source, target, scaled, toneMaps, hasAlpha, before }: Conversion): ColorSteps {
  const working = hasAlpha ? "gbrap" : "gbrp";
  // Pixels are weighted by their alpha. Otherwise the color of transparent pixels would show at the edges.
  const scale = hasAlpha
    ? ["format=gbrap", "premultiply=inplace=1", ...scaleFilters(scaled, []), "unpremultiply=inplace=1"]
    : scaleFilters(scaled, []);
  // RGB comes first: `zscale` does not accept chroma planes of half the size if a side is odd.
  const mapped = toneMaps ? ["format=gbrp12le", ...toneMapFilters(source, "gbr")] : [];
  return {
    toWorking: [...before, ...scale, ...mapped, `format=${working}`],
    working: { pixelFormat: working, tags: BT709 },
    toTarget: [
      // Straight from YUV, ffmpeg 7.0 would keep the source's matrix.
      ...(codingOf(target) === "jpeg" ? ["scale=out_color_matrix=bt601:out_range=pc"] : []),
      ...(target.pixelFormat === working ? [] : [`format=${target.pixelFormat}`]),
    ],
  };
}

/** Formats of hardware, and their planar equivalents, which the filters that draw need. */
const PLANAR: Readonly<Record<string, string>> = { nv12: "yuv420p", p010le: "yuv420p10le" };

/** Format to draw in, before the conversion to the target. */
export const drawingFormat = ({ pixelFormat }: TargetFormat): string => PLANAR[pixelFormat] ?? pixelFormat;
