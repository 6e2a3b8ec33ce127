// Filters as the text of a graph. Parts of it come from probes, which other nodes made: nothing of them may become a filter.

/** All that plans use, but for those that join branches. None of them opens a file or a connection of its own. */
const FILTERS: ReadonlySet<string> = new Set(
  (
    "aformat alimiter aresample bwdif crop format fps gblur hflip hwupload null overlay pad palettegen paletteuse pan " +
    "premultiply scale select setparams setpts setsar settb tile tonemap tpad transpose trim unpremultiply vflip yadif zscale"
  ).split(" "),
);

/** Outside of quotes a value holds none of the characters that end a value, a filter or a chain (ffmpeg-filters, §4.1). */
const VALUE = String.raw`(?:\w+=)?(?:[^,;:[\]'\\]*|'[^'\\]*')`;
const FILTER = new RegExp(`^(\\w+)(?:=${VALUE}(?::${VALUE})*)?$`);

/** An expression as the value of an option, which may hold commas. Throws for what would end the quotes. */
export function quoted(expression: string): string {
  if (/['\\]/.test(expression)) throw new Error(`An expression cannot be quoted: ${expression}`);
  return `'${expression}'`;
}

/** Filters one after the other. Throws when one of them is not a single filter of those that plans use. */
export const chainText = (filters: readonly string[]): string => filters.map(checked).join(",");

function checked(filter: string): string {
  const [, name] = FILTER.exec(filter) ?? [];
  if (name === undefined || !FILTERS.has(name)) throw new Error(`No filter of a plan: ${filter}`);
  return filter;
}
