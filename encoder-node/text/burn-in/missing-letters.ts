// Captions with letters that no font has would be rows of boxes.
import { readFile } from "node:fs/promises";
import { AppError } from "#shared/errors.ts";
import type { AssScript } from "../ass/ass-script.ts";
import { glyphsIn } from "./font-file.ts";
import type { FontFile } from "./node-fonts.ts";

/** Letters beyond ASCII. Fonts lack many symbols, and captions without them can be read. */
const LETTER = /[^\P{L}\p{ASCII}]/gu;
/** In a message. */
const MAX_NAMED = 5;

/** Throws AppError `subtitle_failed` if a script has letters that none of the fonts has. */
export async function checkLetters({ events }: AssScript, fonts: readonly FontFile[]): Promise<void> {
  let missing = [...new Set(events.flatMap(({ text }) => text.match(LETTER) ?? []))];
  for (const { path } of fonts) {
    if (missing.length === 0) return;
    const hasGlyph = glyphsIn(await readFile(path));
    missing = missing.filter((letter) => !isDrawn(letter, hasGlyph));
  }
  if (missing.length === 0) return;
  const named = missing.slice(0, MAX_NAMED).map((letter) => `${letter} (${codeOf(letter)})`);
  const rest = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : "";
  throw new AppError(
    "subtitle_failed",
    `no font has ${named.join(", ")}${rest}; name a font in \`font\` that has them`,
  );
}

/** The shaper composes letters that a font lacks from their parts. */
const isDrawn = (letter: string, hasGlyph: (codePoint: number) => boolean): boolean =>
  [letter, letter.normalize("NFD")].some((text) => [...text].every((part) => hasGlyph(part.codePointAt(0) ?? 0)));

const codeOf = (letter: string): string =>
  `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
