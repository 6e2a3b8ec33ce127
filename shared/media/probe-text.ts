// Text that a probe may contain. It is restricted because other nodes create ffmpeg commands from it.
import * as z from "zod";

/**
 * ffmpeg's names of color properties (libavutil/pixdesc.c, libavfilter/vf_setparams.c) that both `setparams` and
 * `zscale` support, so that plans may use them in filters.
 */
export const COLOR_NAMES = {
  matrix: names(
    "bt709 fcc bt470bg smpte170m smpte240m ycgco bt2020nc bt2020c chroma-derived-nc chroma-derived-c ictcp",
  ),
  primaries: names("bt709 bt470m bt470bg smpte170m smpte240m film bt2020 smpte428 smpte431 smpte432 ebu3213"),
  transfer: names(
    "bt709 bt470m bt470bg smpte170m smpte240m linear log100 log316 iec61966-2-4 iec61966-2-1 bt2020-10 bt2020-12 " +
      "smpte2084 arib-std-b67",
  ),
} as const;

/** Names without information or only for clients: no filter uses them. */
const UNUSED = {
  matrix: names("gbr unknown reserved unspecified smpte2085 ipt-c2 ycgco-re ycgco-ro"),
  primaries: names("unknown reserved unspecified jedec-p22 vgamut"),
  transfer: names("unknown reserved unspecified gamma22 gamma28 bt1361e smpte428 vlog"),
} as const;

/** ffprobe's names of field orders (`AVFieldOrder`), color ranges, and chroma sample locations. */
const FIELD_ORDERS = names("progressive tt bb tb bt unknown");
const RANGES = names("tv pc unknown");
const CHROMA_LOCATIONS = names("left center topleft top bottomleft bottom unspecified");

function names(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** Omits text that does not match, because unusual files must still work. */
const matching = (pattern: RegExp) => z.string().regex(pattern).optional().catch(undefined);
const oneOf = (...sets: readonly ReadonlySet<string>[]) =>
  z
    .string()
    .refine((text) => sets.some((set) => set.has(text)))
    .optional()
    .catch(undefined);

/** Text fields of a probe that plans read, each with ffprobe's pattern. */
export const ProbeText = {
  colorMatrix: oneOf(COLOR_NAMES.matrix, UNUSED.matrix),
  colorPrimaries: oneOf(COLOR_NAMES.primaries, UNUSED.primaries),
  colorTransfer: oneOf(COLOR_NAMES.transfer, UNUSED.transfer),
  colorRange: oneOf(RANGES),
  chromaLocation: oneOf(CHROMA_LOCATIONS),
  fieldOrder: oneOf(FIELD_ORDERS),
  /** Names of media types, codecs and pixel formats. Every ffmpeg release adds some, and plans only compare them. */
  name: matching(/^[\w.-]{1,40}$/),
  /** `mov,mp4,m4a,3gp,3g2,mj2`. */
  demuxers: matching(/^[\w.,-]{1,200}$/),
  /** `avc1`, or `[27][0][0][0]`: ffprobe prints all other characters as numbers (`av_fourcc_make_string`). */
  fourCharacters: matching(/^[\w. [\]-]{1,24}$/),
  /** `5.1(side)`, `6 channels`, `FL+FR+LFE`. */
  layout: matching(/^[\w.()+@| -]{1,200}$/),
  number: matching(/^-?\d{1,15}(\.\d{1,12})?$/),
  /** `30000/1001`, `4:3`. */
  ratio: matching(/^-?\d{1,15}[/:]\d{1,15}$|^\d{1,15}(\.\d{1,12})?$/),
} as const;

const MAX_CHARS = 1000;
const MAX_ITEMS = 1000;
const MAX_DEPTH = 6;
/** ffprobe prints matrices with line breaks. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u;
const isText = (text: string): boolean => text.length <= MAX_CHARS && PRINTABLE.test(text.replace(/[\n\r\t]/g, ""));

function isShown(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return isText(value);
  if (typeof value !== "object" || value === null) return true;
  const entries = Object.entries(value);
  if (depth >= MAX_DEPTH || entries.length > MAX_ITEMS) return false;
  return entries.every(([name, item]) => isText(name) && isShown(item, depth + 1));
}

/** All other values of ffprobe. Clients receive them; no plan reads them. */
export const ShownValue = z
  .unknown()
  .refine((value) => isShown(value))
  .catch(undefined);

/** Free text from the author of the file. ffmpeg copies it between files; it is never part of an argument. */
export const Tags = z.record(z.string(), z.string());
