// The fonts of this node: the packaged ones, and the files in the operator's folder.
import { open, readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { AppError } from "#shared/errors.ts";
import { MAX_FONTS } from "#shared/protocol/capabilities.ts";
import type { AssScript } from "../ass/ass-script.ts";
import { type Font, glyphsIn, readFont } from "./font-file.ts";

/** A font file on this node's disk. */
export type FontFile = Font & { readonly path: string };

/** Fonts of the captions of an output. */
export type Fonts = {
  readonly chosen: FontFile;
  /** All fonts that the captions may use. */
  readonly known: readonly FontFile[];
};

/** Returns a function from the font that a script names to its family, if the task has it; otherwise to null. */
export function familyIn({ known }: Pick<Fonts, "known">): (name: string) => string | null {
  const families = new Map(known.map(({ family }) => [family.toLowerCase(), family]));
  return (name) => families.get(name.toLowerCase()) ?? null;
}

/** Files by family. */
export type NodeFonts = ReadonlyMap<string, readonly FontFile[]>;

/** The family of texts without a font. libass takes characters that it lacks from the other packaged fonts. */
export const PACKAGED_FAMILY = "Noto Sans";

const require = createRequire(import.meta.url);
const PACKAGED = [
  "@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf",
  "@expo-google-fonts/noto-sans/400Regular_Italic/NotoSans_400Regular_Italic.ttf",
  "@expo-google-fonts/noto-sans/700Bold/NotoSans_700Bold.ttf",
  "@expo-google-fonts/noto-sans-arabic/400Regular/NotoSansArabic_400Regular.ttf",
];
const EXTENSIONS: ReadonlySet<string> = new Set([".ttf", ".otf"]);
export const MAX_FONT_BYTES = 20e6;

/** The packaged files. Every run that draws captions has them. Throws when the package is not installed. */
export const packagedFonts = (): Promise<FontFile[]> => fontsIn(PACKAGED.map((name) => require.resolve(name)));

/** All fonts. `folder`: the operator's; null: none. Throws the error of the file system when it cannot be read. */
export async function findFonts(folder: string | null): Promise<NodeFonts> {
  const names = folder === null ? [] : (await readdir(folder)).toSorted();
  const paths = names
    .filter((name) => EXTENSIONS.has(extname(name).toLowerCase()))
    .map((name) => join(folder ?? "", name));
  const files = [...(await packagedFonts()), ...(await fontsIn(paths))];
  return new Map([...Map.groupBy(files, ({ family }) => family)].slice(0, MAX_FONTS));
}

/** Leaves out files that are no fonts. */
async function fontsIn(paths: readonly string[]): Promise<FontFile[]> {
  const fonts: FontFile[] = [];
  for (const path of paths) {
    const font = await readFontFile(path);
    if (font) fonts.push({ ...font, path });
  }
  return fonts;
}

/** Null for a file that is no font, or is larger than 20 MB. */
export async function readFontFile(path: string): Promise<Font | null> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    return size > MAX_FONT_BYTES ? null : readFont(await file.readFile());
  } finally {
    await file.close();
  }
}

// Captions with letters that no font has would be rows of boxes.

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
