// Recognizes sources that cannot be read: unsupported formats, and files that are not media. An example is a web page
// whose URL was given in place of the file's.
import { AppError } from "#shared/errors.ts";
import { readStart } from "../../folders/open-source.ts";

/** More than a color profile, which may precede the bytes of a pattern. */
const HEAD_BYTES = 8192;

/** Kinds of text, by the start of the text that `contentOf` returns. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^<(?:!doctype html|html|head|body)\b/i, "a web page (text/html)"],
  [/^<error\b/i, "an error in XML"],
  [/^\{\s*"/, "JSON"],
];

/** Formats whose demuxers are not allowed, or do not read all of the format: by the start of the file, in Latin-1. */
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/^DKIF/, "an IVF file"],
  [/^wvpk/, "a WavPack file"],
  [/^MAC /, "a Monkey's Audio file"],
  [/^\.snd/, "an AU file"],
  [/^TTA[12]/, "a TTA file"],
  [/^MP(?:CK|\+)/, "a Musepack file"],
  [/^DSD /, "a DSF file"],
  [/^FRM8.{8}DSD /s, "a DSDIFF file"],
  // The type of the first segment and its size, after two timestamps.
  [/^PG.{8}[^ -~]{2}/s, "a file of PGS subtitles"],
  [/^MThd/, "a MIDI file"],
  [/^\.RMF/, "a RealMedia file"],
  [/^nut\/multimedia container/, "a NUT file"],
  [/^YUV4MPEG2 /, "a YUV4MPEG2 file"],
  [/^[CFZ]WS[^ -~]/, "a Flash application (SWF)"],
  // An OBU with the code of a sequence header (AOM Immersive Audio Model §3.4).
  [/^\xf8.iamf/s, "an IAMF file"],
  // The chunk with the parameters of an animation (RFC 9649 §2.7.1.1).
  [/^RIFF.{4}WEBPVP8X.*ANIM/s, "an animated WebP image"],
];

/**
 * Adds the kind of the file to a probe failure, if the kind is recognized; with `input_codec_not_supported` for a media
 * format. Other errors stay unchanged.
 */
export async function explainNotMedia(error: unknown, path: string): Promise<unknown> {
  if (!(error instanceof AppError) || error.code !== "input_not_media") return error;
  const head = await readStart(path, HEAD_BYTES).catch(() => Buffer.alloc(0));
  const format = unsupportedFormat(head.toString("latin1"));
  if (format !== null) {
    const message = `The input is ${format}, which is not supported; convert it to a common format first.`;
    return new AppError("input_codec_not_supported", message, { cause: error });
  }
  const kind = kindOf(head.toString("utf8"));
  if (kind === null) return error;
  const advice = "check that the URL names the media file itself, and that it can be fetched without a login";
  return new AppError("input_not_media", `The host responded with ${kind}, not with a media file; ${advice}.`, {
    cause: error,
  });
}

/** A media format that is not supported, by the start of a file in Latin-1; null for anything else. */
export const unsupportedFormat = (head: string): string | null =>
  UNSUPPORTED.find(([pattern]) => pattern.test(head))?.[1] ?? null;

/** The kind of a text that hosts send in place of a file; null for anything else. */
export const kindOf = (text: string): string | null =>
  KINDS.find(([pattern]) => pattern.test(contentOf(text)))?.[1] ?? null;

/** Parts before the content that are skipped: comments and the XML declaration. */
const SKIPPED = [
  { start: "<!--", end: "-->" },
  { start: "<?xml", end: ">" },
];

/** The text after its byte order mark, spaces, comments and XML declaration. */
function contentOf(text: string): string {
  // `trimStart` removes the byte order mark, too.
  let rest = text.trimStart();
  for (;;) {
    const skipped = SKIPPED.find(({ start }) => rest.startsWith(start));
    const end = skipped ? rest.indexOf(skipped.end, skipped.start.length) : -1;
    if (!skipped || end < 0) return rest;
    rest = rest.slice(end + skipped.end.length).trimStart();
  }
}
