// Writes filters as text. Parts of this text come from probes by other nodes, so nothing in these parts may act as a
// filter.
import { CHAIN_FILTERS } from "./capabilities.ts";

/** Outside of quotes, a value has no characters that end a value, a filter or a chain (ffmpeg-filters, §4.1). */
const VALUE = String.raw`(?:\w+=)?(?:[^,;:[\]'\\]*|'[^'\\]*')`;
/** The only form of the filter `subtitles`, which opens files: the node writes them into the folder of the run. */
export const BURN_FILTER = /^subtitles=burn-\d{1,5}(?:-\d{1,10})?(?:-pq|-hlg)?\.ass:fontsdir=fonts(?::alpha=1)?$/;
/** The only form of the filter `movie`, which opens files, too. `sp`: where reading starts, in seconds. */
export const BITMAP_FILTER = /^movie=burn-\d{1,5}\.nut:f=nut(?::sp=\d{1,12}(?:\.\d{1,3})?)?$/;
/** Filters that open files. */
const OPENING: Readonly<Record<string, RegExp>> = { subtitles: BURN_FILTER, movie: BITMAP_FILTER };
const FILTER = new RegExp(`^(\\w+)(?:=${VALUE}(?::${VALUE})*)?$`);

/**
 * Quotes an expression, which may contain commas, as the value of an option. Throws if it has a quote or a backslash.
 */
export function quoted(expression: string): string {
  if (/['\\]/.test(expression)) throw new Error(`An expression cannot be quoted: ${expression}`);
  return `'${expression}'`;
}

/** Joins filters to a chain. Throws for text that is not exactly a single filter that plans use. */
export const chainText = (filters: readonly string[]): string => filters.map(checked).join(",");

function checked(filter: string): string {
  const [, name] = FILTER.exec(filter) ?? [];
  const isKnown = name !== undefined && CHAIN_FILTERS.has(name) && (OPENING[name]?.test(filter) ?? true);
  if (!isKnown) throw new Error(`No filter of a plan: ${filter}`);
  return filter;
}
