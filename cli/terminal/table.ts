// Formats text in columns.
import { COLOR } from "./printable.ts";

/** The width of a text on the screen, without its color codes. */
export const widthOf = (text: string): number => [...text.replaceAll(COLOR, "")].length;

/**
 * Formats rows in columns with two spaces between them. A column is as wide as its widest cell; the last is not padded.
 */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - widthOf(cell)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Shortens a text to at most `width` characters. A shortened text loses its colors. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${[...text.replaceAll(COLOR, "")].slice(0, Math.max(0, width - 1)).join("")}…`;
}
