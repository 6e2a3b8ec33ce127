// The encoders, filters and muxers that a plan may use on a node.
import type { Capabilities } from "../../protocol/capabilities.ts";
import type { Need } from "../../protocol/needs.ts";

/** Capabilities of the node that runs the plan, by ffmpeg's names. The node tests them when it starts. */
export type FfmpegCapabilities = Readonly<
  Pick<Capabilities, "encoders" | "filters" | "muxers" | "hardware"> &
    Partial<Pick<Capabilities, "ffmpegVersion" | "fonts" | "folders" | "decoders" | "features">>
>;

/** Filters that plans use and that all builds have, by ffmpeg's names. Without these filters nothing works. */
const ASSUMED_FILTERS = [
  "aformat",
  "alimiter",
  "aloop",
  "apad",
  "aresample",
  "asetpts",
  "atrim",
  "format",
  "null",
  "pad",
  "pan",
  "premultiply",
  "scale",
  "select",
  "setparams",
  "setpts",
  "setsar",
  "settb",
  "sidedata",
  "trim",
  "unpremultiply",
  "volume",
] as const;

/** Filters of chains that plans use and that some builds lack. */
const OPTIONAL_CHAIN_FILTERS = [
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
  "lutyuv",
  "tile",
  "palettegen",
  "paletteuse",
  "zscale",
  "tonemap",
  "hwupload",
  "amerge",
  "subtitles",
  "movie",
  "colorchannelmixer",
  "loop",
  "fade",
  "drawtext",
] as const;

/** Filters that plans use and that some builds lack. A node reports its filters from this list. */
export const OPTIONAL_FILTERS = [...OPTIONAL_CHAIN_FILTERS, "libvmaf", "ebur128"] as const;

/**
 * All filters in the chains of plans. None of them opens a connection, or a file other than those of filter-text.ts,
 * unlike libvmaf.
 */
export const CHAIN_FILTERS: ReadonlySet<string> = new Set([...ASSUMED_FILTERS, ...OPTIONAL_CHAIN_FILTERS]);

/** Muxers that plans use and that some builds lack: `avif` came with ffmpeg 5.1. */
export const OPTIONAL_MUXERS = ["avif", "webvtt"] as const;

/** Codecs of captions that are images, with their decoders, which some builds lack. */
export const BITMAP_CODECS: ReadonlyMap<string, string> = new Map([
  ["hdmv_pgs_subtitle", "pgssub"],
  ["dvb_subtitle", "dvbsub"],
  ["dvd_subtitle", "dvdsub"],
  ["xsub", "xsub"],
]);

/** True if a node has any name of a need. Hardware encoders count. */
export function meets(capabilities: FfmpegCapabilities, { kind, anyOf }: Need): boolean {
  const names = namesOf(capabilities, kind);
  return anyOf.some((name) => names.includes(name));
}

function namesOf(
  { encoders, filters, muxers, hardware, fonts = [], folders = [], decoders = [], features = [] }: FfmpegCapabilities,
  kind: Need["kind"],
): readonly string[] {
  if (kind === "filter") return filters;
  if (kind === "font") return fonts;
  if (kind === "feature") return features;
  if (kind === "folder") return folders.map(({ name }) => name);
  if (kind === "writable folder") return folders.flatMap(({ name, isWritable }) => (isWritable ? [name] : []));
  if (kind === "decoder") return decoders;
  return kind === "muxer" ? muxers : [...encoders, ...(hardware?.encoders ?? [])];
}
