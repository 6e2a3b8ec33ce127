// Formats text in columns.
import stringWidth from "string-width";
import { COLOR, printable } from "./printable.ts";

/** Letters with their accents, emoji with their parts: a terminal draws each in one place, 1 or 2 columns wide. */
const LETTERS = new Intl.Segmenter();

/** The columns that a printed text takes. */
const columnsOf = (text: string): number => stringWidth(printable(text.replaceAll(COLOR, "")));

/**
 * Formats rows in columns with two spaces between them. A column is as wide as its widest cell; the last is not padded.
 */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, columnsOf(cell));
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - columnsOf(cell)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Shortens a text to at most `width` columns of the terminal. A shortened text loses its colors. */
export function shortened(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  let short = "";
  for (const { segment } of LETTERS.segment(text.replaceAll(COLOR, ""))) {
    if (columnsOf(short) + columnsOf(segment) >= width) break;
    short += segment;
  }
  return `${short}…`;
}
