// Special characters in the text of cues.

const SPECIAL = /[<>]|&(?!(?:amp|lt|gt|nbsp|lrm|rlm);)/g;
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escapes the characters that WebVTT reserves, except for character references. */
export const escapedMarkup = (text: string): string => text.replaceAll(SPECIAL, (char) => ESCAPES[char] ?? char);

/** Escapes the characters that WebVTT reserves. */
export const escapedText = (text: string): string => text.replaceAll(/[&<>]/g, (char) => ESCAPES[char] ?? char);

/** The names of WebVTT and XML. HTML has two thousand further names, which captions do not have. */
const REFERENCE = /&(?:(amp|lt|gt|quot|apos|nbsp|lrm|rlm)|#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6}));/g;
const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00A0",
  lrm: "\u200E",
  rlm: "\u200F",
};

/** Replaces character references. Control characters become spaces; references to no character stay. */
export const decodedReferences = (text: string): string =>
  text.replaceAll(REFERENCE, (all, name: string | undefined, decimal: string | undefined, hex: string) => {
    if (name !== undefined) return NAMED[name] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    if (code < 32) return " ";
    return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? all : String.fromCodePoint(code);
  });

const RUBY_TAG = /<\/?r(?:uby|t)(?:[.\s][^<>]*)?>/g;

/** Puts readings of ruby text in parentheses: `漢字(かんじ)`. An end tag of a reading may be missing (WebVTT §3.4). */
export function withReadings(text: string): string {
  let isOpen = false;
  return text.replaceAll(RUBY_TAG, (tag) => {
    const closing = isOpen ? ")" : "";
    isOpen = tag.startsWith("<rt");
    return isOpen ? `${closing}(` : closing;
  });
}
