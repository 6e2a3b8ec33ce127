// High dynamic range and wide gamut brought down to what BT.709 can show.
import type { Failure } from "../../errors.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { SourceColor } from "../source/source-color.ts";

/** Light of white paper in HDR, in cd/m² (ITU-R BT.2408): it becomes the level 1 that the curve starts from. */
export const WHITE_NITS = 203;

/**
 * Brightest light that keeps its drawing where the source does not say, and within which its word is taken: what most HDR
 * is graded for, and what hardly any goes beyond.
 */
const PEAK_NITS = { assumed: 1000, least: 400, most: 4000 };

/**
 * Filters from PQ, HLG or BT.2020 to BT.709. They begin with frames that are tagged and end with 8-bit values for `matrix`
 * (`bt709` for YUV of limited range, `gbr` for RGB), to be followed by `format`.
 *
 * Mobius leaves what is below 30 % of white as it is, so that faces keep their light, and bends only what is above:
 * measured, mid-grey of 26 cd/m² lands at 108 of 255, white at 216, 1000 cd/m² at 255. It works on the brightest of R,
 * G and B, so hues stay; `desat` would grey bright colours.
 */
export function toneMapFilters({ dynamics, peakNits }: SourceColor, matrix: "bt709" | "gbr"): string[] {
  const end = matrix === "gbr" ? "m=gbr:r=full" : "m=bt709:r=limited";
  if (dynamics === "wide") return [`zscale=p=bt709:t=bt709:${end}`];
  const nits = Math.min(PEAK_NITS.most, Math.max(PEAK_NITS.least, peakNits ?? PEAK_NITS.assumed));
  return [
    `zscale=t=linear:npl=${WHITE_NITS}`,
    "format=gbrpf32le",
    "zscale=p=bt709",
    `tonemap=mobius:desat=0:peak=${Number((nits / WHITE_NITS).toFixed(2))}`,
    `zscale=t=bt709:${end}`,
  ];
}

/**
 * Why a node cannot run these filters, when they convert colours by parts that its ffmpeg lacks; null when it can. Another
 * node may, so this may be tried again.
 */
export function conversionFailure(
  filters: readonly string[],
  can: Pick<FfmpegCapabilities, "filters">,
): Failure | null {
  const lacking = ["zscale", "tonemap"].find(
    (name) => filters.some((filter) => filter.startsWith(`${name}=`)) && !can.filters.includes(name),
  );
  if (!lacking) return null;
  const message = `The input is HDR or BT.2020, and the encoder node's ffmpeg lacks the filter \`${lacking}\` for converting its colours.`;
  return { code: "encoder_not_available", message };
}
