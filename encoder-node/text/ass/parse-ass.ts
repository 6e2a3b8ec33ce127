// Parses ASS and SSA files of clients. Only known fields pass, as numbers within bounds: fonts and images in the file,
// comments and effects are dropped.

import { AppError } from "#shared/errors.ts";
import { clockMs } from "#shared/media/clock-time.ts";
import { type AssEvent, type AssScript, type AssStyle, STYLE_NUMBERS, toHundredths } from "./ass-script.ts";
import { cleanText, type TagContext } from "./ass-tags.ts";
import type { Color } from "./caption-colors.ts";

const SECTION = /^\[([^\]]{1,40})\]/;
const MAX_STYLES = 500;
const MAX_EVENTS = 100_000;
/** Longer texts are dropped. */
const MAX_TEXT_CHARS = 20_000;
const MAX_RESOLUTION = 20_000;

/** Fonts of the run: `fallback` replaces unknown fonts. */
export type Fonts = Pick<TagContext, "fontOf"> & { readonly fallback: string };

/** Returns the script, or the reason why it is not usable. Throws AppError `subtitle_failed` for too many events. */
export function parseAss(text: string, { fontOf, fallback }: Fonts): AssScript | string {
  const sections = sectionsOf(text);
  const info = new Map((sections.get("script info") ?? []).map(({ name, value }) => [name, value]));
  const { width, height } = resolutionOf(info);
  const isNew = sections.has("v4+ styles");
  const styles = stylesOf(sections.get(isNew ? "v4+ styles" : "v4 styles") ?? [], isNew, { fontOf, fallback });
  if (styles.length > MAX_STYLES) return "it has too many styles";
  const named = styles.length > 0 ? styles : [styleOf(new Map(), true, { fontOf, fallback })];
  const context = { styles: new Set(named.map(({ name }) => name)), fontOf, width, height };
  const events = eventsOf(sections.get("events") ?? [], context, named[0]?.name ?? "Default");
  return {
    width,
    height,
    wrapStyle: bounded(info.get("wrapstyle"), [0, 3], 0),
    scalesBorders: /^yes$/i.test(info.get("scaledborderandshadow") ?? "no"),
    styles: named,
    events,
  };
}

type Line = { readonly name: string; readonly value: string };

/** Lines `Name: value` by the lower-case name of their section. Names are in lower case. */
function sectionsOf(text: string): ReadonlyMap<string, readonly Line[]> {
  const sections = new Map<string, Line[]>();
  let lines: Line[] = [];
  for (const line of text.split("\n")) {
    const section = SECTION.exec(line)?.[1]?.trim().toLowerCase();
    const colon = line.indexOf(":");
    if (section !== undefined) {
      lines = sections.get(section) ?? [];
      sections.set(section, lines);
    } else if (colon > 0 && line.length <= MAX_TEXT_CHARS && !line.startsWith(";")) {
      lines.push({ name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() });
    }
  }
  return sections;
}

/** As libass completes a missing resolution (ass_render.c, `ass_lazy_track_init`). */
function resolutionOf(info: ReadonlyMap<string, string>): { width: number; height: number } {
  const sizes = ["playresx", "playresy"].map((name) => bounded(info.get(name), [0, MAX_RESOLUTION], 0));
  const [width = 0, height = 0] = sizes.map(Math.trunc);
  if (width === 0 && height === 0) return { width: 384, height: 288 };
  if (width === 0) return { width: height === 1024 ? 1280 : Math.max(1, Math.trunc((height * 4) / 3)), height };
  if (height === 0) return { width, height: width === 1280 ? 1024 : Math.max(1, Math.trunc((width * 3) / 4)) };
  return { width, height };
}

/** The fields of a line by their lower-case names. A format may have thousands of fields, so `get` reads only one. */
type Fields = { get(name: string): string | undefined };

/** Yields the fields of lines, by the names of the section's format. The last field contains further commas. */
function* fieldsOf(lines: readonly Line[], wanted: string): Generator<Fields, void> {
  let format: readonly string[] = [];
  let places: ReadonlyMap<string, number> = new Map();
  for (const { name, value } of lines) {
    if (name === "format") {
      format = value.split(",");
      places = new Map(format.map((field, at) => [field.trim().toLowerCase(), at]));
    }
    if (name === wanted && format.length > 0) yield fieldsIn(value.split(","), places, format.length - 1);
  }
}

const fieldsIn = (parts: readonly string[], places: ReadonlyMap<string, number>, last: number): Fields => ({
  get(name) {
    const at = places.get(name);
    if (at === undefined) return undefined;
    return at < last ? (parts[at] ?? "").trim() : parts.slice(last).join(",");
  },
});

type Bounds = readonly [min: number, max: number];

/** Bounds and default of each field of a style. */
const STYLE_BOUNDS: Readonly<Record<(typeof STYLE_NUMBERS)[number], readonly [Bounds, number]>> = {
  Bold: [[-1, 900], 0],
  Italic: [[-1, 1], 0],
  Underline: [[-1, 1], 0],
  StrikeOut: [[-1, 1], 0],
  ScaleX: [[0, 1000], 100],
  ScaleY: [[0, 1000], 100],
  Spacing: [[-500, 500], 0],
  Angle: [[-3600, 3600], 0],
  BorderStyle: [[1, 4], 1],
  Outline: [[0, 100], 2],
  Shadow: [[0, 100], 2],
  Alignment: [[1, 11], 2],
  MarginL: [[0, MAX_RESOLUTION], 10],
  MarginR: [[0, MAX_RESOLUTION], 10],
  MarginV: [[0, MAX_RESOLUTION], 10],
  Encoding: [[-1, 255], 1],
};

/** The last of several styles with one name counts. Stops at too many styles. */
function stylesOf(lines: readonly Line[], isNew: boolean, fonts: Fonts): AssStyle[] {
  const styles = new Map<string, AssStyle>();
  for (const fields of fieldsOf(lines, "style")) {
    const style = styleOf(fields, isNew, fonts);
    styles.set(style.name, style);
    if (styles.size > MAX_STYLES) break;
  }
  return [...styles.values()];
}

function styleOf(fields: Fields, isNew: boolean, { fontOf, fallback }: Fonts): AssStyle {
  const numbers = STYLE_NUMBERS.map((name) => {
    const [bounds, usual] = STYLE_BOUNDS[name];
    const value = bounded(fields.get(name.toLowerCase()), bounds, usual);
    return name === "Alignment" && !isNew ? newAlignment(value) : value;
  });
  const color = (name: string, usual: number): Color => colorOf(fields.get(name), usual);
  return {
    name: nameOf(fields.get("name") ?? "Default"),
    font: fontOf(fields.get("fontname") ?? "") ?? fallback,
    size: bounded(fields.get("fontsize"), [1, 5000], 18),
    colors: [
      color("primarycolour", 0xffffff),
      color("secondarycolour", 0x00ffff),
      color(isNew ? "outlinecolour" : "tertiarycolour", 0),
      color("backcolour", 0),
    ],
    numbers,
  };
}

/** A leading asterisk has no meaning. */
const nameOf = (text: string): string =>
  text
    .replace(/^\*+/, "")
    .replace(/[^\p{L}\p{N} ._-]/gu, "_")
    .trim()
    .slice(0, 100) || "Default";

/** From SSA's alignments, of which 5 to 7 are at the top and 9 to 11 in the middle, to those of a keypad. */
function newAlignment(value: number): number {
  const column = Math.min(3, Math.max(1, value % 4));
  return column + (value >= 8 ? 3 : value >= 4 ? 6 : 0);
}

/** `&HAABBGGRR` or a decimal number. */
function colorOf(text: string | undefined, usual: number): Color {
  const [, hex] = /^&?H([0-9a-f]{1,8})&?$/i.exec(text ?? "") ?? [];
  const decimal = /^-?\d{1,10}$/.test(text ?? "") ? Number(text) >>> 0 : usual;
  const value = hex === undefined ? decimal : Number.parseInt(hex, 16);
  const byte = (shift: number): number => (value >>> shift) & 0xff;
  return { red: byte(0), green: byte(8), blue: byte(16), alpha: byte(24) };
}

/** The events of lines; `eventOf` returns null for a line without an event. Stops at too many events. */
function eventsIn<Event>(lines: readonly Line[], eventOf: (fields: Fields) => Event | null): Event[] {
  const events: Event[] = [];
  for (const fields of fieldsOf(lines, "dialogue")) {
    const event = eventOf(fields);
    if (event) events.push(event);
    if (events.length > MAX_EVENTS) throw new AppError("subtitle_failed", "it has too many events");
  }
  return events;
}

function eventsOf(lines: readonly Line[], context: TagContext, firstStyle: string): AssEvent[] {
  return eventsIn(lines, (fields): AssEvent | null => {
    const times = timesOf(fields);
    const text = times ? cleanText(fields.get("text") ?? "", context) : "";
    if (!times || text === "") return null;
    const style = nameOf(fields.get("style") ?? "");
    const margin = (name: string): number => Math.trunc(bounded(fields.get(name), [0, MAX_RESOLUTION], 0));
    return {
      ...times,
      layer: Math.trunc(bounded(fields.get("layer"), [0, 10_000], 0)),
      style: context.styles.has(style) ? style : context.styles.has("Default") ? "Default" : firstStyle,
      margins: [margin("marginl"), margin("marginr"), margin("marginv")],
      text,
    };
  });
}

function timesOf(fields: Fields): { startMs: number; endMs: number } | null {
  const [startMs, endMs] = ["start", "end"].map((name) => {
    const match = /^(\d{1,4}):(\d{1,2}):(\d{1,2})[.:](\d{1,3})$/.exec(fields.get(name) ?? "");
    return match && clockMs(match.slice(1));
  });
  if (startMs == null || endMs == null || endMs <= startMs) return null;
  return { startMs: toHundredths(startMs), endMs: toHundredths(endMs) };
}

function bounded(text: string | undefined, [min, max]: Bounds, usual: number): number {
  if (text === undefined || !/^-?\d{1,9}(?:\.\d{1,9})?$/.test(text)) return usual;
  return Math.min(max, Math.max(min, Number(text)));
}
