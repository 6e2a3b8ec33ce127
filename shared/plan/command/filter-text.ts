// Writes filters as text. Parts of this text come from probes by other nodes, so nothing in these parts may act as a
// filter.
import { CHAIN_FILTERS } from "./capabilities.ts";

/** Outside of quotes, a value has no characters that end a value, a filter or a chain (ffmpeg-filters, §4.1). */
const VALUE = String.raw`(?:\w+=)?(?:[^,;:[\]'\\]*|'[^'\\]*')`;
/** The only forms of the filter `subtitles`, which opens files: the node writes them into the folder of the run. */
export const BURN_FILTER =
  /^subtitles=(?:burn-\d{1,5}(?:-\d{1,10})?|text-\d{1,5}-\d-\d{1,10}-\d{1,10})(?:-pq|-hlg)?\.ass:fontsdir=fonts(?::alpha=1)?$/;
/** The only form of the filter `movie`, which opens files, too. `sp`: where reading starts, in seconds. */
export const BITMAP_FILTER = /^movie=burn-\d{1,5}\.nut:f=nut(?::sp=\d{1,12}(?:\.\d{1,3})?)?$/;
/** The font of timecodes, which the node writes into the folder of the run. */
const TIMECODE_FONT = "fonts/NotoSans_400Regular.ttf";
/** Number of the frame at time `t`, with the numbers that drop-frame timecode leaves out. `#`: a number. */
const FRAME = "st(0,floor((t-(#))*#+0.1)+#);ld(0)+#*trunc(ld(0)/#)+#*trunc((mod(ld(0),#)-#)/#)";
const FIELD = `%{eif\\:mod(trunc((${FRAME})/#),#)\\:d\\:2}`;
const TIMECODE_FILTERS = ["\\:", ";"].map((separator) =>
  [
    `drawtext=fontfile=${TIMECODE_FONT}:fontsize=#:fontcolor=0x~:box=1:boxcolor=0x000000@0.5:boxborderw=#`,
    "x='#*(w-tw)+#':y='#*(h-th)+#':alpha='#*clip(min((t-(#))/#,((#)-t)/#),0,1)'",
    `text='${FIELD}\\:${FIELD}\\:${FIELD}${separator}${FIELD}':enable='gte(t,#)*lt(t,#)'`,
  ].join(":"),
);

/** The filter `drawtext` with these numbers in their order, and a gray of 0 to 255: its only form. */
export function drawtextFilter(dropsFrames: boolean, gray: number, numbers: readonly number[]): string {
  const rest = [...numbers];
  return (TIMECODE_FILTERS[dropsFrames ? 1 : 0] ?? "")
    .replace("~", gray.toString(16).padStart(2, "0").repeat(3))
    .replaceAll("#", () => String(Number((rest.shift() ?? Number.NaN).toFixed(6))));
}

/** True if a filter, a graph or another argument draws a timecode. */
export const drawsTimecode = (text: string): boolean => text.includes("drawtext=");

const formOf = (template: string): string =>
  template
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")
    .replaceAll("#", String.raw`-?\d{1,12}(?:\.\d{1,6})?`)
    .replace("~", "[0-9a-f]{6}");
const TIMECODE_FILTER = new RegExp(`^(?:${TIMECODE_FILTERS.map(formOf).join("|")})$`);

/** Filters that open files, or draw text. */
const OPENING: Readonly<Record<string, RegExp>> = {
  subtitles: BURN_FILTER,
  movie: BITMAP_FILTER,
  drawtext: TIMECODE_FILTER,
};
const FILTER = new RegExp(`^\\w+(?:=${VALUE}(?::${VALUE})*)?$`);

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
  const [name = ""] = /^\w*/.exec(filter) ?? [];
  const form = Object.hasOwn(OPENING, name) ? OPENING[name] : FILTER;
  if (!CHAIN_FILTERS.has(name) || !form?.test(filter)) throw new Error(`No filter of a plan: ${filter}`);
  return filter;
}
