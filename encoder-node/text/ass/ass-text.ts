// The text of ASS events: override blocks in braces, and text between them.

/** A block without an end is text. */
export function* splitBlocks(text: string): Generator<{ readonly isBlock: boolean; readonly text: string }> {
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf("{", at);
    const close = open === -1 ? -1 : text.indexOf("}", open);
    if (close === -1) {
      yield { isBlock: false, text: text.slice(at) };
      return;
    }
    if (open > at) yield { isBlock: false, text: text.slice(at, open) };
    yield { isBlock: true, text: text.slice(open + 1, close) };
    at = close + 1;
  }
}

/** Keeps line breaks and hard spaces. A brace would start a block. */
export const cleanPlain = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cs}]/gu, "")
    .replace(/\\(?![Nnh])/g, "\\\u2060")
    .replaceAll("{", "\\{");

/** Text of other formats: a backslash is only a character. */
export const literalText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cs}]/gu, "")
    .replaceAll("\\", "\\\u2060")
    .replaceAll("{", "\\{");
