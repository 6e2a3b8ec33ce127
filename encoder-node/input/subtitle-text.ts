// What a subtitle file is, and its text, by its content alone. Pure.

export type SubtitleText = { readonly format: "srt" | "vtt"; readonly text: string };
export type NotSubtitle = { readonly reason: string };

/** The text of a file of subtitles, without byte order mark and with plain line ends; or what is wrong with it. */
export function readSubtitle(bytes: Uint8Array, language: string): SubtitleText | NotSubtitle {
  const encoding = encodingOf(bytes, language);
  if (encoding === null) return { reason: "its characters are not in UTF-8; save it in that encoding" };
  // The decoder takes the byte order mark away.
  const text = new TextDecoder(encoding).decode(bytes).replace(/\r\n?/g, "\n");
  const format = formatOf(text);
  return format ? { format, text } : { reason: "it is neither SubRip nor WebVTT" };
}

/** A WebVTT file begins with its name (WebVTT §4.1); SubRip has nothing but cues, whose times have commas. */
function formatOf(text: string): SubtitleText["format"] | null {
  if (/^WEBVTT(?:[ \t\n]|$)/.test(text)) return "vtt";
  return /^\s*(?:\d+\s*\n)?\s*\d+:\d\d:\d\d[,.]\d{1,3}[ \t]*-->[ \t]*\d+:\d\d:\d\d[,.]\d{1,3}/.test(text)
    ? "srt"
    : null;
}

/** A label of the Encoding Standard; null: unknown. */
function encodingOf(bytes: Uint8Array, language: string): string | null {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return "utf-16le";
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return "utf-16be";
  if (isUtf8(bytes)) return "utf-8";
  const [primary = ""] = language.toLowerCase().split("-");
  return WESTERN_LANGUAGES.has(primary) ? "windows-1252" : null;
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
 * Languages whose 8-bit text is in Windows-1252, which holds all of Latin-1 (Encoding Standard §4.2). Bytes alone cannot
 * tell it from Cyrillic or Chinese.
 */
const WESTERN_LANGUAGES = new Set(
  "af ca da de en es eu fi fo fr ga gl id is it lb ms nb nl nn no oc pt sq sv deu eng fra ita nld por spa".split(" "),
);
