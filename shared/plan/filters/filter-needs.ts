// The filters that a plan needs of the ffmpeg that runs it.
import type { Failure } from "../../errors.ts";
import type { Need } from "../../protocol/needs.ts";
import { type FfmpegCapabilities, meets, OPTIONAL_FILTERS } from "../command/capabilities.ts";
import { type Filter, filterNames } from "../command/filter-graph.ts";

/** Filters that deinterlace, best first: bwdif draws finer lines than yadif and is as fast. */
export const DEINTERLACERS = ["bwdif", "yadif"] as const;

/** Filters of tone mapping (tone-map.ts). */
const CONVERTS_COLORS: ReadonlySet<string> = new Set(["zscale", "tonemap"]);

/** Uploads frames to hardware. The trial of the hardware's encoders has proved that it works. */
const PROVED_BY_TRIAL = "hwupload";

/** Filter that measures VMAF. Distributions build ffmpeg without it. */
export const VMAF_NEED: Need = { kind: "filter", anyOf: ["libvmaf"] };

/** Filter that measures loudness. */
export const LOUDNESS_NEED: Need = { kind: "filter", anyOf: ["ebur128"] };

/** Muxer of the input's text. */
export const TEXT_NEED: Need = { kind: "muxer", anyOf: ["webvtt"] };

/** A need for each filter that some builds lack, and a common need for the deinterlacers. */
export function filterNeeds(filters: readonly Filter[]): Need[] {
  const used = new Set(filters.flatMap(filterNames));
  const single = OPTIONAL_FILTERS.filter((name) => name !== PROVED_BY_TRIAL && !isDeinterlacer(name));
  return [
    ...single.filter((name) => used.has(name)).map((name): Need => ({ kind: "filter", anyOf: [name] })),
    ...(DEINTERLACERS.some((name) => used.has(name)) ? [{ kind: "filter" as const, anyOf: DEINTERLACERS }] : []),
  ];
}

const isDeinterlacer = (name: string): boolean => DEINTERLACERS.some((deinterlacer) => deinterlacer === name);

/**
 * Returns the reason why a node cannot run these filters; null if it can. Another node may have them, so a retry is
 * possible.
 */
export function filterFailure(needs: readonly Need[], capabilities: FfmpegCapabilities): Failure | null {
  const lacking = needs.find((need) => need.kind === "filter" && !meets(capabilities, need));
  if (!lacking) return null;
  const name = lacking.anyOf[0] ?? "";
  const message = CONVERTS_COLORS.has(name)
    ? `The input is HDR or BT.2020, and the encoder node's ffmpeg lacks the filter \`${name}\` for converting its colors.`
    : `The ffmpeg build of the encoder node lacks the filter \`${name}\`.`;
  return { code: "encoder_not_available", message };
}
