// The encoders, filters and muxers that a plan may use on a node.
import type { Capabilities } from "../../protocol/capabilities.ts";
import type { Need } from "../../protocol/needs.ts";

/** What works on the node that runs the plan, by ffmpeg's names. The node tests this when it starts. */
export type FfmpegCapabilities = Readonly<
  Pick<Capabilities, "encoders" | "filters" | "muxers" | "hardware"> & Partial<Pick<Capabilities, "ffmpegVersion">>
>;

/**
 * Filters that plans use and that some builds lack, by ffmpeg's names. Plans assume `scale`, `pad`, `format` and
 * `split`: without these nothing works.
 */
export const OPTIONAL_FILTERS = [
  "fps",
  "crop",
  "tpad",
  "transpose",
  "hflip",
  "vflip",
  "overlay",
  "yadif",
  "bwdif",
  "gblur",
  "boxblur",
  "tile",
  "thumbnail",
  "palettegen",
  "paletteuse",
  "colorspace",
  "zscale",
  "tonemap",
  "hwupload",
  "libvmaf",
] as const;

/** Muxers that plans use and that some versions lack: `avif` came with ffmpeg 5.1. */
export const OPTIONAL_MUXERS = ["avif"] as const;

/** Whether a node has one of the names of a need. Hardware encoders count. */
export function meets(capabilities: FfmpegCapabilities, { kind, anyOf }: Need): boolean {
  const names = namesOf(capabilities, kind);
  return anyOf.some((name) => names.includes(name));
}

function namesOf({ encoders, filters, muxers, hardware }: FfmpegCapabilities, kind: Need["kind"]): readonly string[] {
  if (kind === "filter") return filters;
  return kind === "muxer" ? muxers : [...encoders, ...(hardware?.encoders ?? [])];
}
