// Writes filters as text. Parts of this text come from probes by other nodes, so nothing in these parts may act as a
// filter.
import { CHAIN_FILTERS } from "./capabilities.ts";

/** Outside of quotes, a value has no characters that end a value, a filter or a chain (ffmpeg-filters, §4.1). */
const VALUE = String.raw`(?:\w+=)?(?:[^,;:[\]'\\]*|'[^'\\]*')`;
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
  if (name === undefined || !CHAIN_FILTERS.has(name)) throw new Error(`No filter of a plan: ${filter}`);
  return filter;
}
