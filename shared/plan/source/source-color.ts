// The color space of a source: its tags, completed by convention.
import type { ProbedStream } from "../../media/media-probe.ts";
import { COLOR_NAMES } from "../../media/probe-text.ts";
import { type HdrLight, hdrLight } from "./hdr-light.ts";

/** By ffmpeg's names. */
export type ColorTags = { readonly matrix: string; readonly primaries: string; readonly transfer: string };

export type SourceColor = {
  /** The tags of the source, completed by convention. */
  readonly tags: ColorTags;
  /** `setparams` options for tags that the source, or the frames of its decoder, leave out. */
  readonly assumed: readonly string[];
  /** `hdr`: PQ or HLG. `wide`: the primaries of BT.2020 without PQ or HLG. */
  readonly dynamics: "standard" | "wide" | "hdr";
  readonly light: HdrLight;
  readonly isRgb: boolean;
  readonly isFullRange: boolean;
  readonly hasAlpha: boolean;
  /** More than 8 bits per sample. Only then does the name of the pixel format contain the byte order. */
  readonly isDeep: boolean;
};

const BT709: ColorTags = { matrix: "bt709", primaries: "bt709", transfer: "bt709" };
const BT601_525: ColorTags = { matrix: "smpte170m", primaries: "smpte170m", transfer: "smpte170m" };
const BT601_625: ColorTags = { matrix: "bt470bg", primaries: "bt470bg", transfer: "smpte170m" };
const BT2020: ColorTags = { matrix: "bt2020nc", primaries: "bt2020", transfer: "bt2020-10" };

/** The filter `scale` has its own names for some matrices, and knows only the matrices in this table. */
const SCALE_MATRICES: Readonly<Record<string, string>> = {
  bt709: "bt709",
  smpte170m: "smpte170m",
  bt470bg: "bt470",
  smpte240m: "smpte240m",
  fcc: "fcc",
  bt2020nc: "bt2020",
};

/** Name of a matrix in the filter `scale`; BT.709 for a matrix that it does not know. */
export const scaleMatrix = (matrix: string): string => SCALE_MATRICES[matrix] ?? "bt709";

/** Broadcasts may state the transfer function of BT.2020, and HLG in a message (ETSI TS 101 154 §5.14.4.4.3.4). */
export const HLG = "arib-std-b67";
const HDR_TRANSFERS = new Set(["smpte2084", HLG]);

/** BT.709 is for HD, which has at least 720 lines. Players guess by the same limit. */
const HD = { width: 1280, height: 720 };
/** Number of lines of PAL, and of half of it (VCD). */
const LINES_625 = new Set([576, 288]);

/** WebM keeps alpha beside the frames (`BlockAdditional`). ffmpeg's own decoders of VP8 and VP9 do not look there. */
const ALPHA_DECODERS: Readonly<Record<string, string>> = { vp8: "libvpx", vp9: "libvpx-vp9" };

/** Decoder that a stream needs for its alpha, by ffmpeg's name; null if any decoder works. */
export const alphaDecoder = ({ codec_name = "", tags = {} }: ProbedStream): string | null =>
  (tags.alpha_mode ?? tags.ALPHA_MODE) === "1" ? (ALPHA_DECODERS[codec_name] ?? null) : null;

/** The color space of a video stream. */
export function sourceColor(stream: ProbedStream): SourceColor {
  const format = stream.pix_fmt ?? "";
  const isRgb = /^(x2|0)?(rgb|bgr)|^[ab](rgb|bgr)|^gbr|^pal8/.test(format);
  const stated = {
    matrix: known(COLOR_NAMES.matrix, stream.color_space),
    primaries: known(COLOR_NAMES.primaries, stream.color_primaries),
    transfer: known(COLOR_NAMES.transfer, stream.color_transfer),
  };
  // The ProRes decoder of ffmpeg 5.1 does not pass the container's tags on to the frames.
  const reachesFrames = stream.codec_name !== "prores";
  const usual = convention(stream, stated, isRgb);
  const tags = {
    matrix: isRgb ? usual.matrix : (stated.matrix ?? usual.matrix),
    primaries: stated.primaries ?? usual.primaries,
    transfer: stated.transfer ?? usual.transfer,
  };
  return {
    tags,
    assumed: [
      ...(stated.primaries && reachesFrames ? [] : [`color_primaries=${tags.primaries}`]),
      ...(stated.transfer && reachesFrames ? [] : [`color_trc=${tags.transfer}`]),
      ...((stated.matrix && reachesFrames) || isRgb ? [] : [`colorspace=${tags.matrix}`]),
    ],
    dynamics: isHdr(tags) ? "hdr" : tags.primaries === "bt2020" ? "wide" : "standard",
    light: hdrLight(stream),
    isRgb,
    isFullRange: isRgb || stream.color_range === "pc" || /^(yuvj|gray|ya8|mono)/.test(format),
    hasAlpha: /^(yuva|rgba|bgra|argb|abgr|gbrap|ya|pal8)/.test(format) || alphaDecoder(stream) !== null,
    isDeep: /(le|be)$/.test(format),
  };
}

type StatedTags = { readonly [Name in keyof ColorTags]: string | null };

/** The most probable color space of a source with these tags. */
function convention({ width = 0, height = 0 }: ProbedStream, stated: StatedTags, isRgb: boolean): ColorTags {
  const { primaries, matrix, transfer } = stated;
  const isWide = primaries === "bt2020" || matrix === "bt2020nc" || HDR_TRANSFERS.has(transfer ?? "");
  if (isWide) return isRgb ? { ...BT2020, matrix: "bt2020nc" } : BT2020;
  if (isRgb || matrix === "bt709" || width >= HD.width || height >= HD.height) return BT709;
  return LINES_625.has(height) || matrix === "bt470bg" ? BT601_625 : BT601_525;
}

/**
 * Returns a known name, or null. These names become options of filters, so any other text of a probe counts as missing.
 */
const known = (names: ReadonlySet<string>, text: string | undefined): string | null =>
  text !== undefined && names.has(text) ? text : null;

/** True if the transfer function is PQ or HLG. */
export const isHdr = ({ transfer }: Pick<ColorTags, "transfer">): boolean => HDR_TRANSFERS.has(transfer);
