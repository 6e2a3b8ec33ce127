// Recognizes the format and the encoding of a subtitle file by its content, and reads its cues.
import { AppError } from "#shared/errors.ts";
import { assCues } from "../ass/ass-cues.ts";
import { isAss } from "../ass/ass-script.ts";
import { isScc, parseScc } from "../closed-captions/scc.ts";
import { isSubRip, parseSubRip } from "../subrip.ts";
import { isWebVtt, parseWebVtt, plainLines, type WebVtt } from "../subtitle-cues.ts";
import { isTtml, parseTtml } from "../ttml.ts";

export type SubtitleFormat = "srt" | "vtt" | "ass" | "ttml" | "scc";
/** `notes`: complete sentences of the client about a file, after its name and a colon. */
export type SubtitleText = {
  readonly format: SubtitleFormat;
  readonly text: string;
  readonly notes: readonly string[];
};

/**
 * Returns the text of a subtitle file, without byte order mark and with plain line ends. Throws AppError
 * `subtitle_failed` if its format or encoding is not known. `known`: the format of a track of the input. Containers
 * state UTF-8, so other text is damaged then.
 */
export function readSubtitle(bytes: Uint8Array, language = "", known: SubtitleFormat | null = null): SubtitleText {
  const encoding = encodingOf(bytes, language) ?? (known ? "utf-8" : null);
  if (encoding === null) throw new AppError("subtitle_failed", "it is not in UTF-8; save it in that encoding");
  const text = plainLines(new TextDecoder(encoding).decode(bytes));
  const format = known ?? formatOf(text);
  if (!format) throw new AppError("subtitle_failed", "it is neither SubRip, WebVTT, ASS, TTML nor SCC");
  const isLossy = text.includes(REPLACEMENT);
  return { format, text, notes: isLossy ? [`letters that are not valid Unicode are shown as ${REPLACEMENT}`] : [] };
}

/** Stands for bytes that are not valid (Encoding Standard §4.1). */
const REPLACEMENT = "\uFFFD";

export type ReadCues = { readonly text: WebVtt; readonly notes: readonly string[] };

/**
 * Returns the cues of a file. `keepsStyle`: colors and alignments of SubRip count. Throws AppError `subtitle_failed` if
 * it is not usable.
 */
export function cuesOf({ format, text, notes }: SubtitleText, keepsStyle = false): ReadCues {
  switch (format) {
    case "srt":
      return { text: parseSubRip(text, keepsStyle), notes };
    case "ass":
      return { text: assCues(text), notes };
    case "scc":
      return { text: parseScc(text), notes };
    case "ttml":
      return ttmlCues(text, notes);
    default:
      return { text: parseWebVtt(text) ?? unusable("readable WebVTT"), notes };
  }
}

function ttmlCues(text: string, notes: readonly string[]): ReadCues {
  const { badTimes, ...read } = parseTtml(text) ?? unusable("TTML with media times and without a DTD");
  const [bad] = badTimes;
  if (bad === undefined) return { text: read, notes };
  const quotedTime = `\`${bad.replaceAll(/[^\p{L}\p{N}\p{P} ]/gu, "").slice(0, 40)}\``;
  if (read.cues.length === 0) {
    const valid = "use times such as 00:00:01.500, 00:00:01:12 or 1.5s";
    throw new AppError("subtitle_failed", `its time ${quotedTime} is not valid; ${valid}`);
  }
  return { text: read, notes: [...notes, `cues with a time that is not valid, such as ${quotedTime}, are left out`] };
}

function unusable(expected: string): never {
  throw new AppError("subtitle_failed", `it is not ${expected}`);
}

/** SubRip has no signature. The other formats start with their own names. */
function formatOf(text: string): SubtitleFormat | null {
  if (isWebVtt(text)) return "vtt";
  if (isTtml(text)) return "ttml";
  if (isScc(text)) return "scc";
  if (isAss(text)) return "ass";
  return isSubRip(text) ? "srt" : null;
}

/** A label of the Encoding Standard; null: unknown. */
function encodingOf(bytes: Uint8Array, language: string): string | null {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return "utf-16le";
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return "utf-16be";
  if (isUtf8(bytes)) return "utf-8";
  return WESTERN_LANGUAGES.has(shortLanguage(language)) ? "windows-1252" : null;
}

/** The language of a BCP 47 tag in its shortest form: `de` for `deu-AT`. Empty for an invalid tag. */
function shortLanguage(tag: string): string {
  try {
    return new Intl.Locale(tag).language;
  } catch {
    return "";
  }
}

const MARK = [0xef, 0xbb, 0xbf];

/** True with a byte order mark, and if most letters outside of ASCII are valid. */
function isUtf8(bytes: Uint8Array): boolean {
  if (MARK.every((byte, at) => bytes[at] === byte)) return true;
  const letters =
    new TextDecoder()
      .decode(bytes)
      .match(/\P{ASCII}+/gu)
      ?.join("") ?? "";
  const invalid = letters.split(REPLACEMENT).length - 1;
  return invalid === 0 || letters.length > 2 * invalid;
}

/**
 * Languages whose 8-bit text is in Windows-1252, which holds all of Latin-1 (Encoding Standard §4.2). Bytes alone
 * cannot distinguish it from Cyrillic or Chinese encodings.
 */
const WESTERN_LANGUAGES = new Set(
  "af ca da de en es eu fi fo fr ga gl id is it lb ms nb nl nn no oc pt sq sv".split(" "),
);
