// Parses TTML 1 and 2, with IMSC's text profile, to WebVTT cues. The data is untrusted: a document with a DTD, or whose
// times are not media times, is rejected.
import { XMLParser } from "fast-xml-parser";
import * as z from "zod";
import { clockMs } from "#shared/media/clock-time.ts";
import { decodedReferences, escapedText } from "./escaped-text.ts";
import { type Cue, MAX_CUE_MS, type WebVtt } from "./subtitle-cues.ts";

/** True if a text starts like a TTML document. */
export const isTtml = (text: string): boolean =>
  /^\s*<(?:\?xml|!--|(?:[\w.-]+:)?tt[\s>])/.test(text) && /<(?:[\w.-]+:)?tt[\s>]/.test(text);

/** More than any author nests. The parser and this module recurse. */
const MAX_DEPTH = 50;
const PARSER = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  removeNSPrefix: true,
  processEntities: false,
  trimValues: false,
  parseTagValue: false,
  parseAttributeValue: false,
  maxNestedTags: MAX_DEPTH,
});

type Attributes = Readonly<Record<string, string>>;
type Node = {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: readonly Node[];
  readonly text: string;
};
const Raw = z.array(z.record(z.string(), z.unknown()));
const RawAttributes = z.record(z.string(), z.string()).catch({});

/** `badTimes`: time expressions that are not valid, without the cues that have them. */
export type Ttml = WebVtt & { readonly badTimes: readonly string[] };

/** Null if the text is no usable TTML. */
export function parseTtml(text: string): Ttml | null {
  if (/<!DOCTYPE/i.test(text)) return null;
  try {
    const tt = nodesOf(PARSER.parse(text)).find(({ name }) => name === "tt");
    if (!tt || (tt.attributes.timeBase ?? "media") !== "media") return null;
    const body = tt.children.find(({ name }) => name === "body");
    const context = { rates: ratesOf(tt.attributes), styles: stylesOf(tt), badTimes: [] };
    const span = body && spanOf(body, { startMs: 0, endMs: MAX_CUE_MS }, context);
    const cues = body && span ? paragraphs(body, span, context) : [];
    const { badTimes } = context;
    return { definitions: [], cues: cues.toSorted((a, b) => a.startMs - b.startMs), badTimes };
  } catch {
    return null;
  }
}

function nodesOf(raw: unknown): Node[] {
  return Raw.parse(raw).map((entry): Node => {
    const [name = "", content] = Object.entries(entry).find(([key]) => key !== ":@") ?? [];
    const attributes = RawAttributes.parse(entry[":@"]);
    if (name === "#text") return { name, attributes, children: [], text: String(content) };
    return { name, attributes, children: nodesOf(content), text: "" };
  });
}

type Span = { readonly startMs: number; readonly endMs: number };
type Rates = { readonly framesPerSecond: number; readonly subFramesPerFrame: number; readonly ticksPerSecond: number };
type Context = {
  readonly rates: Rates;
  readonly styles: ReadonlyMap<string, Attributes>;
  /** Grows. */
  readonly badTimes: string[];
};

/** Frames, their parts, and ticks (TTML2 §7.2.6, §7.2.11, §7.2.12). */
function ratesOf({ frameRate, frameRateMultiplier, subFrameRate, tickRate }: Attributes): Rates {
  const [numerator = 1, denominator = 1] = (frameRateMultiplier ?? "1 1").split(/[ :]/).map(Number);
  const frames = Number(frameRate ?? 30);
  const ticks = Number(tickRate ?? (frameRate === undefined ? 1 : frames));
  const subFramesPerFrame = Number(subFrameRate ?? 1);
  return { framesPerSecond: (frames * numerator) / denominator, subFramesPerFrame, ticksPerSecond: ticks };
}

function stylesOf(tt: Node): Map<string, Attributes> {
  const styling = tt.children.find(({ name }) => name === "head")?.children.find(({ name }) => name === "styling");
  return new Map((styling?.children ?? []).map(({ attributes }) => [attributes.id ?? "", attributes]));
}

/** Hours of one digit and commas are not valid, but common. */
const CLOCK = /^(\d{1,9}):(\d\d):(\d\d)(?:[.,](\d{1,9})|:(\d{2,9})(?:\.(\d{1,9}))?)?$/;
const OFFSET = /^(\d{1,12}(?:\.\d{1,9})?)(h|m|s|ms|f|t)$/;

/** A time expression in ms (TTML2 §12.3.1); NaN for others. */
function msOf(time: string, { framesPerSecond, subFramesPerFrame, ticksPerSecond }: Rates): number {
  const clock = CLOCK.exec(time);
  if (clock) {
    const frames = Number(clock[5] ?? 0) + Number(clock[6] ?? 0) / subFramesPerFrame;
    return clockMs(clock.slice(1, 5)) + (frames / framesPerSecond) * 1000;
  }
  const [, value = Number.NaN, unit = ""] = OFFSET.exec(time) ?? [];
  const units = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, f: 1000 / framesPerSecond, t: 1000 / ticksPerSecond };
  return Number(value) * (units[unit as keyof typeof units] ?? Number.NaN);
}

/** The active time of an element inside that of its parent (TTML2 §12.4); null if one of its times is not valid. */
function spanOf({ attributes }: Node, parent: Span, { rates, badTimes }: Context): Span | null {
  const [beginMs = 0, endMs = Infinity, durationMs = Infinity] = ["begin", "end", "dur"].map((name) => {
    const time = attributes[name]?.trim();
    const ms = time === undefined ? undefined : msOf(time, rates);
    if (ms === undefined || Number.isFinite(ms)) return ms;
    badTimes.push(time ?? "");
    return Number.NaN;
  });
  if (Number.isNaN(beginMs + endMs + durationMs)) return null;
  const startMs = parent.startMs + beginMs;
  return { startMs, endMs: Math.min(parent.endMs, parent.startMs + endMs, startMs + durationMs) };
}

const TIMED: ReadonlySet<string> = new Set(["div", "p", "span"]);

/** The results of the children, which get their active times. In a sequence, a child starts at the end of the last. */
function* timedChildren<Result extends Span>(
  { attributes, children }: Node,
  span: Span,
  context: Context,
  read: (child: Node, span: Span) => readonly Result[],
): Generator<Result> {
  let { startMs } = span;
  for (const child of children) {
    const isElement = TIMED.has(child.name);
    const inner = isElement ? spanOf(child, { startMs, endMs: span.endMs }, context) : span;
    if (!inner) continue;
    const results = read(child, inner);
    yield* results;
    if (attributes.timeContainer !== "seq" || !isElement) continue;
    const isTimed = child.attributes.end !== undefined || child.attributes.dur !== undefined;
    startMs = isTimed ? inner.endMs : results.reduce((latest, { endMs }) => Math.max(latest, endMs), startMs);
  }
}

function paragraphs(node: Node, span: Span, context: Context): Cue[] {
  if (node.name !== "p") {
    const read = (child: Node, inner: Span): readonly Cue[] =>
      child.name === "div" || child.name === "p" ? paragraphs(child, inner, context) : [];
    return [...timedChildren(node, span, context, read)];
  }
  const parts = textParts(node, span, context, node.attributes.space === "preserve");
  const bySpan = Map.groupBy(parts, ({ startMs, endMs }) => `${startMs} ${endMs}`);
  return [...bySpan.values()].flatMap((same): Cue[] => {
    const [first] = same;
    const text = cleanText(same.map(({ text }) => text).join(""));
    const [startMs, endMs] = [Math.round(first?.startMs ?? 0), Math.round(Math.min(MAX_CUE_MS, first?.endMs ?? 0))];
    return text === "" || endMs <= startMs ? [] : [{ startMs, endMs, settings: "", text }];
  });
}

const cueText = (xml: string): string => escapedText(decodedReferences(xml));

type Part = Span & { readonly text: string };

/** The text of an element with WebVTT tags, by its active times. `outer`: the tags of its parents. */
function textParts(
  node: Node,
  span: Span,
  context: Context,
  keepsSpace: boolean,
  outer: readonly string[] = [],
): Part[] {
  const tags = tagsOf(node.attributes, context).filter((tag) => !outer.includes(tag));
  const read = (child: Node, inner: Span): readonly Part[] => {
    if (child.name === "#text")
      return [{ ...span, text: cueText(keepsSpace ? child.text : child.text.replaceAll(/\s+/g, " ")) }];
    if (child.name === "br") return [{ ...span, text: "\n" }];
    if (child.name !== "span" || child.attributes.ruby === "delimiter") return [];
    const { space } = child.attributes;
    const keeps = space === undefined ? keepsSpace : space === "preserve";
    return textParts(child, inner, context, keeps, [...outer, ...tags]);
  };
  const inside = [...timedChildren(node, span, context, read)];
  // A base and its reading are a single part.
  const isRuby = node.attributes.ruby === "container";
  const parts = isRuby ? [{ ...span, text: `<ruby>${inside.map(({ text }) => text.trim()).join("")}</ruby>` }] : inside;
  return parts.map((part) =>
    part.text.trim() === ""
      ? part
      : { ...part, text: tags.reduce((text, tag) => `<${tag}>${text}</${tag}>`, part.text) },
  );
}

function tagsOf(attributes: Attributes, { styles }: Context): string[] {
  // The last style that an element names counts first. An element may name a style thousands of times.
  const ids = new Set((attributes.style ?? "").split(/\s+/).reverse());
  const referenced = [attributes, ...[...ids].map((id) => styles.get(id))];
  const stated = (name: string): string | undefined => referenced.find((style) => style?.[name] !== undefined)?.[name];
  return [
    ...(/^(?:italic|oblique)$/.test(stated("fontStyle") ?? "") ? ["i"] : []),
    ...(stated("fontWeight") === "bold" ? ["b"] : []),
    ...(stated("textDecoration")?.split(" ").includes("underline") ? ["u"] : []),
    ...(attributes.ruby === "text" ? ["rt"] : []),
  ];
}

/** A cue has no blank lines. */
const cleanText = (text: string): string =>
  text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
