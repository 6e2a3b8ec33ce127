// Override tags of ASS texts. Tags of the tables below are written again; everything else is dropped.

import { cleanPlain, splitBlocks } from "./ass-script.ts";

/** Names that texts may refer to, and the size of the script, which bounds drawings. */
export type TagContext = {
  readonly styles: ReadonlySet<string>;
  /** The font of a name, if it is in the run's folder; null drops the tag. */
  readonly fontOf: (name: string) => string | null;
  readonly width: number;
  readonly height: number;
};

type Bounds = readonly [min: number, max: number];

/** Tags with a number, as names, minimum and maximum. Times of karaoke are hundredths of a second. */
const RANGES: readonly (readonly [names: string, min: number, max: number])[] = [
  ["i u s", 0, 1],
  ["b", 0, 900],
  ["an", 1, 9],
  ["a", 1, 11],
  ["q", 0, 3],
  ["p", 0, 4],
  ["k K kf ko", 0, 360_000],
  ["fs", 1, 5000],
  ["fscx fscy", 0, 1000],
  ["fsp", -500, 500],
  ["fax fay", -5, 5],
  ["fr frx fry frz", -36_000, 36_000],
  ["bord xbord ybord shad", 0, 100],
  ["xshad yshad", -100, 100],
  ["be", 0, 20],
  ["blur", 0, 50],
];
const NUMBERS: ReadonlyMap<string, Bounds> = new Map(
  RANGES.flatMap(([names, min, max]) => names.split(" ").map((name): [string, Bounds] => [name, [min, max]])),
);
/** Tags that `\t` may change over time. */
const ANIMATED = /^(?:fs|fscx|fscy|fsp|fr[xyz]?|fa[xy]|[xy]?bord|[xy]?shad|be|blur|[1-4]?c|alpha|[1-4]a|i?clip)$/;
const POSITION = 20_000;
const TIME = 360_000_000;

/** Longest name first, so that `\fscx` is not `\fs`. */
const NAME =
  /^(?:fscx|fscy|fsp|frx|fry|frz|fax|fay|fade|fad|fs|fr|fn|fe|alpha|[1-4]c|[1-4]a|an|xbord|ybord|bord|xshad|yshad|shad|blur|be|clip|iclip|move|pos|org|kf|ko|K|k|c|b|i|u|s|a|q|p|r|t)/;

/** The text with allowed tags only. Drawings are kept if they are within the frame. */
export function cleanText(text: string, context: TagContext): string {
  let drawing = false;
  let out = "";
  for (const part of splitBlocks(text)) {
    if (part.isBlock) {
      const tags = cleanTags(part.text, context);
      for (const [, scale] of tags.matchAll(/\\p(\d)/g)) drawing = scale !== "0";
      if (tags !== "") out += `{${tags}}`;
    } else out += drawing ? cleanDrawing(part.text, context) : cleanPlain(part.text);
  }
  return out;
}

const MAX_DRAWING_CHARS = 20_000;

/** Empty for a drawing with other characters, or with points outside of the frame. */
function cleanDrawing(text: string, { width, height }: TagContext): string {
  const tokens = text.trim().split(/\s+/);
  const most = Math.max(width, height);
  const isAllowed = (token: string): boolean =>
    /^[mnlbspc]$/.test(token) || (/^-?\d{1,6}(?:\.\d{1,6})?$/.test(token) && Math.abs(Number(token)) <= most);
  return text.length <= MAX_DRAWING_CHARS && tokens.every(isAllowed) ? tokens.join(" ") : "";
}

function cleanTags(block: string, context: TagContext, isAnimated = false): string {
  const cleaned: string[] = [];
  for (const tag of splitTags(block)) {
    const name = NAME.exec(tag)?.[0];
    if (name === undefined || (isAnimated && !ANIMATED.test(name))) continue;
    const value = cleanTag(name, tag.slice(name.length).trim(), context);
    if (value !== null) cleaned.push(`\\${name}${value}`);
  }
  return cleaned.join("");
}

/** Backslashes inside of parentheses belong to the tag before them. */
function splitTags(block: string): string[] {
  const tags: string[] = [];
  let depth = 0;
  let tag: string | null = null;
  for (const character of block) {
    if (character === "\\" && depth === 0) {
      if (tag !== null) tags.push(tag);
      tag = "";
      continue;
    }
    if (character === "(") depth++;
    if (character === ")") depth = Math.max(0, depth - 1);
    if (tag !== null) tag += character;
  }
  return tag === null ? tags : [...tags, tag];
}

/** The value of a tag as it is written; null drops the tag. An empty value means the value of the style. */
function cleanTag(name: string, value: string, context: TagContext): string | null {
  const bounds = NUMBERS.get(name);
  if (bounds) return value === "" ? (name === "an" || name === "a" || name === "p" ? null : "") : number(value, bounds);
  switch (name) {
    case "c":
    case "1c":
    case "2c":
    case "3c":
    case "4c":
      return value === "" ? "" : hexadecimal(value, 6);
    case "alpha":
    case "1a":
    case "2a":
    case "3a":
    case "4a":
      return value === "" ? "" : hexadecimal(value, 2);
    case "fn":
      return value === "" ? "" : context.fontOf(value);
    case "r":
      return value === "" || context.styles.has(value) ? value : "";
    case "t":
      return animation(value, context);
    default:
      return functionOf(name, value);
  }
}

const FUNCTIONS: Readonly<Record<string, readonly number[]>> = {
  pos: [2],
  org: [2],
  move: [4, 6],
  fad: [2],
  fade: [7],
  clip: [4],
  iclip: [4],
};

function functionOf(name: string, value: string): string | null {
  const values = argumentsOf(value);
  if (!values || !FUNCTIONS[name]?.includes(values.length)) return null;
  const isTime = (at: number): boolean => name === "fad" || (name === "fade" && at > 2) || at > 3;
  const cleaned = values.map((value, at) => {
    const bounds: Bounds = isTime(at) ? [-TIME, TIME] : [-POSITION, POSITION];
    return number(value, bounds, isTime(at) || name === "fade");
  });
  return cleaned.includes(null) ? null : `(${cleaned.join()})`;
}

/** `\t([t1,t2,][acceleration,]tags)`. */
function animation(value: string, context: TagContext): string | null {
  const match = /^\(([^\\]*)(\\.*?)\)?$/s.exec(value);
  const before = (match?.[1] ?? "").split(",").map((value) => value.trim());
  if (!match || before.at(-1) !== "" || before.length > 4) return null;
  const values = before.slice(0, -1);
  const cleaned = values.map((value, at) =>
    values.length % 2 === 1 && at === values.length - 1 ? number(value, [0, 100]) : number(value, [-TIME, TIME], true),
  );
  const tags = cleanTags(match[2] ?? "", context, true);
  return tags === "" || cleaned.includes(null) ? null : `(${[...cleaned, tags].join()})`;
}

function argumentsOf(value: string): string[] | null {
  const match = /^\(([^()]*)\)?$/.exec(value);
  return match ? (match[1] ?? "").split(",").map((value) => value.trim()) : null;
}

/** The number, within the bounds; null if it is none. */
function number(text: string, [min, max]: Bounds, isWhole = false): string | null {
  if (!/^[+-]?\d{0,12}(?:\.\d{0,12})?$/.test(text) || !/\d/.test(text)) return null;
  const value = Math.min(max, Math.max(min, Number(text)));
  return String(isWhole ? Math.trunc(value) : Number(value.toFixed(4)));
}

function hexadecimal(text: string, digits: number): string | null {
  const [, digitsOfColor] = /^&?H?([0-9a-f]{1,8})&?$/i.exec(text) ?? [];
  return digitsOfColor === undefined ? null : `&H${digitsOfColor.toUpperCase().padStart(digits, "0").slice(-digits)}&`;
}
