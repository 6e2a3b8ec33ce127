// From the source's colours to the target's: which conversion is needed, and where on the way it happens.

import { type ColorTags, type SourceColor, scaleMatrix } from "../source/source-color.ts";
import type { Size } from "./fit-frame.ts";
import { scaleTo } from "./frame-geometry.ts";
import { toneMapFilters } from "./tone-map.ts";

/** What an encoder wants its pictures to be. */
export type TargetFormat = {
  /**
   * By ffmpeg's name. YUV is of limited range, in the matrix of the source where it has one; `yuvj…` of full range in the
   * matrix of BT.601, which is what JPEG (JFIF) means.
   */
  readonly pixelFormat: string;
  /** Whether players take it for BT.709 whatever the file says. */
  readonly onlyBt709?: boolean;
  /** 2 where sides must be even. */
  readonly step: 1 | 2;
};

export type ColorSteps = {
  /** Scale to the picture's size and convert to the working format. */
  readonly toWorking: readonly string[];
  /** In which the picture is blurred, marked and padded. */
  readonly working: { readonly pixelFormat: string; readonly tags: ColorTags };
  readonly toTarget: readonly string[];
};

const BT709: ColorTags = { matrix: "bt709", primaries: "bt709", transfer: "bt709" };

/** The conversion of a source's colours into a target's, around the scaling to `size`. */
export function colorSteps(source: SourceColor, target: TargetFormat, size: Size): ColorSteps {
  const hasAlpha = /^(yuva|rgba|bgra|argb|abgr|gbrap)/.test(target.pixelFormat);
  const isDeep = /(10|12|14|16)(le|be)$/.test(target.pixelFormat);
  const coding = codingOf(target);
  const keeps = isDeep && coding === "video" && !target.onlyBt709;
  const maps = source.dynamics !== "standard" && !keeps;
  const before = [
    ...(source.assumed.length > 0 ? [`setparams=${source.assumed.join(":")}`] : []),
    ...(source.hasAlpha && !hasAlpha ? flattenFilters(source) : []),
  ];
  return coding === "video"
    ? videoSteps(source, target, size, maps, before)
    : rgbSteps(source, target, size, maps, before, hasAlpha);
}

type Coding = "video" | "jpeg" | "rgb";

function codingOf({ pixelFormat }: TargetFormat): Coding {
  if (pixelFormat.startsWith("yuvj")) return "jpeg";
  return /^(gbr|rgb|bgr|argb|abgr)/.test(pixelFormat) ? "rgb" : "video";
}

/** What is transparent becomes black. */
const flattenFilters = ({ isDeep }: SourceColor): string[] => [
  `format=${isDeep ? "gbrap12le" : "gbrap"}`,
  "premultiply=inplace=1",
  `format=${isDeep ? "gbrp12le" : "gbrp"}`,
];

function videoSteps(
  source: SourceColor,
  { pixelFormat, onlyBt709 = false }: TargetFormat,
  size: Size,
  maps: boolean,
  before: readonly string[],
): ColorSteps {
  const kept = onlyBt709 ? BT709 : source.tags;
  const fromRgb = source.isRgb || before.some((filter) => filter.startsWith("premultiply"));
  const converts = fromRgb || kept.matrix !== source.tags.matrix;
  const options = [
    ...(converts ? [`out_color_matrix=${scaleMatrix(kept.matrix)}`] : []),
    ...(fromRgb || source.isFullRange ? ["out_range=tv"] : []),
  ];
  const scale = [scaleTo(size), ...(maps ? [] : options)].join(":");
  const format = `format=${pixelFormat}`;
  const tags = maps ? BT709 : kept;
  const mapped = maps ? toneMapFilters(source, "bt709") : [];
  // 5.1 does not say what it made of RGB, 7.0 forgets the matrix of what had full range.
  const said = options.length > 0 && !maps ? [`setparams=range=tv:colorspace=${kept.matrix}`] : [];
  return {
    toWorking: [...before, scale, ...mapped, format, ...said],
    working: { pixelFormat, tags },
    toTarget: [],
  };
}

function rgbSteps(
  source: SourceColor,
  target: TargetFormat,
  size: Size,
  maps: boolean,
  before: readonly string[],
  hasAlpha: boolean,
): ColorSteps {
  const working = hasAlpha ? "gbrap" : "gbrp";
  // Each pixel weighed by its alpha: what is hidden would shine through at the edges.
  const scale = hasAlpha
    ? ["format=gbrap", "premultiply=inplace=1", scaleTo(size), "unpremultiply=inplace=1"]
    : [scaleTo(size)];
  // In RGB first: planes of half the size, which odd sides have, are more than `zscale` takes.
  const mapped = maps ? ["format=gbrp12le", ...toneMapFilters(source, "gbr")] : [];
  return {
    toWorking: [...before, ...scale, ...mapped, `format=${working}`],
    working: { pixelFormat: working, tags: BT709 },
    toTarget: [
      // Straight from YUV, 7.0 would keep the source's matrix.
      ...(codingOf(target) === "jpeg" ? ["scale=out_color_matrix=bt601:out_range=pc"] : []),
      ...(target.pixelFormat === working ? [] : [`format=${target.pixelFormat}`]),
    ],
  };
}

/** What hardware takes, and the same in planes, as filters that draw want it. */
const PLANAR: Readonly<Record<string, string>> = { nv12: "yuv420p", p010le: "yuv420p10le" };

/** The format to draw in, on the way to a target. */
export const drawingFormat = ({ pixelFormat }: TargetFormat): string => PLANAR[pixelFormat] ?? pixelFormat;
