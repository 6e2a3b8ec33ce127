// Replaces characters of foreign text that deceive on a terminal. Control characters move the cursor, set titles and
// fill clipboards; other characters reverse the text around them, or are invisible.

const CONTROLS = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029";
/** Marks and embeddings of direction, and invisible characters except joiners, which words and emojis need. */
const HIDDEN =
  "\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}";
const UNPRINTABLE = new RegExp(`[${CONTROLS}${HIDDEN}]`, "gu");
/** Known only to this process, so that foreign text has no color codes. */
const SECRET = crypto.randomUUID();
export const COLOR = new RegExp(`\\u001b${SECRET}(\\[\\d+m)`, "g");
const COLOR_OR_UNPRINTABLE = new RegExp(`${COLOR.source}|${UNPRINTABLE.source}`, "gu");

const REPLACEMENT = "\ufffd";

/** The code of a color within text for `printableColored`. */
export const colorCode = (number: number): string => `\u001b${SECRET}[${number}m`;

/** Replaces unprintable characters except tab and line feed with U+FFFD, in text of a service, a file or a person. */
export const printable = (text: string): string => text.replaceAll(UNPRINTABLE, REPLACEMENT);

/** Like `printable`, but prints the codes of `colors`. */
export const printableColored = (text: string): string =>
  text.replaceAll(COLOR_OR_UNPRINTABLE, (_, color: string | undefined) =>
    color === undefined ? REPLACEMENT : `\u001b${color}`,
  );

/** Returns JSON in which all unprintable characters are escaped: JSON.stringify escapes only the first 32. */
export const printableJson = (document: unknown, indent?: number): string =>
  JSON.stringify(document, null, indent).replaceAll(UNPRINTABLE, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join(""),
  );
