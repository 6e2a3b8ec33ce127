// Recognizes the format and the encoding of a subtitle file by its content.
import { AppError } from "#shared/errors.ts";
import { isScc } from "../../closed-captions/scc.ts";
import { isAss } from "../../package/text/clipped-ass.ts";
import { isWebVtt, plainLines } from "../../package/text/subtitle-cues.ts";
import { isTtml } from "../../package/text/ttml.ts";

export type SubtitleText = { readonly format: "srt" | "vtt" | "ass" | "ttml" | "scc"; readonly text: string };

/** Returns the text of a subtitle file. Throws AppError `subtitle_failed` if its format or encoding is not known. */
export function readSubtitle(bytes: Uint8Array, language: string): SubtitleText {
  const text = decodedText(bytes, language);
  const format = formatOf(text);
  if (!format) throw new AppError("subtitle_failed", "it is neither SubRip, WebVTT, ASS, TTML nor SCC");
  return { format, text };
}

/** The text of a file, without byte order mark and with plain line ends. Throws as `readSubtitle` does. */
export function decodedText(bytes: Uint8Array, language = ""): string {
  const encoding = encodingOf(bytes, language);
  if (encoding === null) throw new AppError("subtitle_failed", "it is not in UTF-8; save it in that encoding");
  // The decoder removes the byte order mark.
  return plainLines(new TextDecoder(encoding).decode(bytes));
}

/** SubRip has only cues, each with an optional number and timestamps. The other formats start with their own names. */
function formatOf(text: string): SubtitleText["format"] | null {
  if (isWebVtt(text)) return "vtt";
  if (isTtml(text)) return "ttml";
  if (isScc(text)) return "scc";
  if (isAss(text)) return "ass";
  const { line, rest } = firstLine(text);
  const times = /^\d+[ \t]*$/.test(line) ? firstLine(rest).line : line;
  return SUBRIP_TIMES.test(times) ? "srt" : null;
}

const SUBRIP_TIMES = /^\d+:\d\d:\d\d[,.]\d{1,3}[ \t]*-->[ \t]*\d+:\d\d:\d\d[,.]\d{1,3}/;

/** The first line that is not blank, without leading spaces; and the text after it. */
function firstLine(text: string): { line: string; rest: string } {
  const start = text.trimStart();
  const end = start.indexOf("\n");
  return end === -1 ? { line: start, rest: "" } : { line: start.slice(0, end), rest: start.slice(end) };
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

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Languages whose 8-bit text is in Windows-1252, which holds all of Latin-1 (Encoding Standard §4.2). Bytes alone
 * cannot distinguish it from Cyrillic or Chinese encodings.
 */
const WESTERN_LANGUAGES = new Set(
  "af ca da de en es eu fi fo fr ga gl id is it lb ms nb nl nn no oc pt sq sv".split(" "),
);
