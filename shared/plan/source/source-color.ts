// What the numbers of a source's pixels mean, with what its tags leave out filled in by convention.
import type { ProbedStream } from "../../media/media-probe.ts";
import { COLOUR_NAMES } from "../../media/probe-text.ts";

/** By ffmpeg's names. */
export type ColorTags = { readonly matrix: string; readonly primaries: string; readonly transfer: string };

export type SourceColor = {
  /** Of the source where it says, else by convention. */
  readonly tags: ColorTags;
  /** `setparams` options for what the source, or the frames of its decoder, do not say. */
  readonly assumed: readonly string[];
  /** `hdr`: PQ or HLG. `wide`: the primaries of BT.2020 without either. */
  readonly dynamics: "standard" | "wide" | "hdr";
  /** Brightest light in cd/m² that the source says it has; null when it does not. */
  readonly peakNits: number | null;
  readonly isRgb: boolean;
  readonly isFullRange: boolean;
  readonly hasAlpha: boolean;
  /** More than 8 bits a sample: only then their order matters to the name. */
  readonly isDeep: boolean;
};

const BT709: ColorTags = { matrix: "bt709", primaries: "bt709", transfer: "bt709" };
const BT601_525: ColorTags = { matrix: "smpte170m", primaries: "smpte170m", transfer: "smpte170m" };
const BT601_625: ColorTags = { matrix: "bt470bg", primaries: "bt470bg", transfer: "smpte170m" };
const BT2020: ColorTags = { matrix: "bt2020nc", primaries: "bt2020", transfer: "bt2020-10" };

/** The filter `scale` has names of its own for some matrices, and knows no others than these. */
const SCALE_MATRICES: Readonly<Record<string, string>> = {
  bt709: "bt709",
  smpte170m: "smpte170m",
  bt470bg: "bt470",
  smpte240m: "smpte240m",
  fcc: "fcc",
  bt2020nc: "bt2020",
};

/** A matrix as `scale` calls it; BT.709 for those that it does not know. */
export const scaleMatrix = (matrix: string): string => SCALE_MATRICES[matrix] ?? "bt709";

const HDR_TRANSFERS = new Set(["smpte2084", "arib-std-b67"]);

/** BT.709 is for HD, which has at least 720 lines; players guess by the same border. */
const HD = { width: 1280, height: 720 };
/** The lines of PAL, and of half of it (VCD). */
const LINES_625 = new Set([576, 288]);

/** WebM keeps alpha beside the pictures (`BlockAdditional`), where ffmpeg's own decoders of VP8 and VP9 do not look. */
const ALPHA_DECODERS: Readonly<Record<string, string>> = { vp8: "libvpx", vp9: "libvpx-vp9" };

/** The decoder that a stream needs for its alpha, by ffmpeg's name; null when any does. */
export const alphaDecoder = ({ codec_name = "", tags = {} }: ProbedStream): string | null =>
  (tags.alpha_mode ?? tags.ALPHA_MODE) === "1" ? (ALPHA_DECODERS[codec_name] ?? null) : null;

/** Reads the tags of a video stream. */
export function sourceColor(stream: ProbedStream): SourceColor {
  const format = stream.pix_fmt ?? "";
  const isRgb = /^(x2|0)?(rgb|bgr)|^[ab](rgb|bgr)|^gbr|^pal8/.test(format);
  const said = {
    matrix: known(COLOUR_NAMES.matrix, stream.color_space),
    primaries: known(COLOUR_NAMES.primaries, stream.color_primaries),
    transfer: known(COLOUR_NAMES.transfer, stream.color_transfer),
  };
  // 5.1's decoder of ProRes keeps the container's word to itself.
  const isTold = stream.codec_name !== "prores";
  const usual = convention(stream, said, isRgb);
  const tags = {
    matrix: isRgb ? usual.matrix : (said.matrix ?? usual.matrix),
    primaries: said.primaries ?? usual.primaries,
    transfer: said.transfer ?? usual.transfer,
  };
  return {
    tags,
    assumed: [
      ...(said.primaries && isTold ? [] : [`color_primaries=${tags.primaries}`]),
      ...(said.transfer && isTold ? [] : [`color_trc=${tags.transfer}`]),
      ...((said.matrix && isTold) || isRgb ? [] : [`colorspace=${tags.matrix}`]),
    ],
    dynamics: HDR_TRANSFERS.has(tags.transfer) ? "hdr" : tags.primaries === "bt2020" ? "wide" : "standard",
    peakNits: peakOf(stream),
    isRgb,
    isFullRange: isRgb || stream.color_range === "pc" || /^(yuvj|gray|ya8|mono)/.test(format),
    hasAlpha: /^(yuva|rgba|bgra|argb|abgr|gbrap|ya|pal8)/.test(format) || alphaDecoder(stream) !== null,
    isDeep: /(le|be)$/.test(format),
  };
}

type Said = { readonly [Name in keyof ColorTags]: string | null };

/** What a source without tags most probably is: what they leave open follows those that are there. */
function convention({ width = 0, height = 0 }: ProbedStream, said: Said, isRgb: boolean): ColorTags {
  const isWide = said.primaries === "bt2020" || said.matrix === "bt2020nc" || HDR_TRANSFERS.has(said.transfer ?? "");
  if (isWide) return isRgb ? { ...BT2020, matrix: "bt2020nc" } : BT2020;
  if (isRgb || said.matrix === "bt709" || width >= HD.width || height >= HD.height) return BT709;
  return LINES_625.has(height) || said.matrix === "bt470bg" ? BT601_625 : BT601_525;
}

/** These names become options of filters: whatever else a probe says counts as nothing said. */
const known = (names: ReadonlySet<string>, text: string | undefined): string | null =>
  text !== undefined && names.has(text) ? text : null;

/** From HDR10's two notes, of which that on the content is nearer to the truth than that on the studio's screen. */
function peakOf({ side_data_list = [] }: ProbedStream): number | null {
  const content = side_data_list.map(({ max_content }) => Number(max_content)).find((nits) => nits > 0);
  const [screen] = side_data_list.flatMap(({ max_luminance }) => {
    const [nits, unit = "1"] = String(max_luminance).split("/");
    const value = Number(nits) / Number(unit);
    return value > 0 ? [value] : [];
  });
  return content ?? screen ?? null;
}
