// Removes control characters from foreign text for a terminal: they move the cursor, set titles and fill clipboards.

const CONTROLS = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029";
const CONTROL = new RegExp(`[${CONTROLS}]`, "g");
/** The codes of `colors` only. */
const COLOR_CODE = "\\u001b\\[(?:1|2|22|31|32|33|39)m";
export const COLOR = new RegExp(COLOR_CODE, "g");
const CONTROL_EXCEPT_COLOR = new RegExp(`(${COLOR_CODE})|[${CONTROLS}]`, "g");

const REPLACEMENT = "\ufffd";

/** Replaces every control character except tab and line feed with U+FFFD, in text of a service, a file or a person. */
export const printable = (text: string): string => text.replaceAll(CONTROL, REPLACEMENT);

/** Like `printable`, but keeps the codes of `colors`. */
export const printableColored = (text: string): string =>
  text.replaceAll(CONTROL_EXCEPT_COLOR, (_, color: string | undefined) => color ?? REPLACEMENT);

/** Returns JSON with escaped C1 control characters and line separators, which JSON.stringify does not escape. */
export const printableJson = (document: unknown, indent?: number): string =>
  JSON.stringify(document, null, indent).replaceAll(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
