// Maps high dynamic range and wide gamut to BT.709.
import type { SourceColor } from "../source/source-color.ts";

/** Light of white paper in HDR, in cd/m² (ITU-R BT.2408). It becomes level 1, where the curve starts. */
export const WHITE_NITS = 203;

/**
 * Brightest light that keeps its detail. `assumed`: used if the source states no peak. Most HDR is graded for this
 * value, and hardly any HDR exceeds it. A stated value is limited to `least` and `most`.
 */
const PEAK_NITS = { assumed: 1000, least: 400, most: 4000 };

/**
 * Filters from PQ, HLG or BT.2020 to BT.709. They start with frames that are tagged and end with 8-bit values for
 * `matrix`, and `format` must follow. `matrix` is `bt709` for YUV of limited range, or `gbr` for RGB.
 * Mobius does not change values below 30 % of white, so that faces keep their brightness. It compresses only higher
 * values. Measured: mid-gray of 26 cd/m² maps to 108 of 255, white to 216, 1000 cd/m² to 255. It works on the brightest
 * of R, G and B, so hues are kept; `desat` would desaturate bright colors.
 */
export function toneMapFilters({ dynamics, light }: SourceColor, matrix: "bt709" | "gbr"): string[] {
  const end = matrix === "gbr" ? "m=gbr:r=full" : "m=bt709:r=limited";
  if (dynamics === "wide") return [`zscale=p=bt709:t=bt709:${end}`];
  const nits = Math.min(PEAK_NITS.most, Math.max(PEAK_NITS.least, light.peakNits ?? PEAK_NITS.assumed));
  return [
    `zscale=t=linear:npl=${WHITE_NITS}`,
    "format=gbrpf32le",
    "zscale=p=bt709",
    `tonemap=mobius:desat=0:peak=${Number((nits / WHITE_NITS).toFixed(2))}`,
    `zscale=t=bt709:${end}`,
  ];
}
