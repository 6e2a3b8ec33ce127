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

/** Null if the text is no usable TTML. */
export function parseTtml(text: string): WebVtt | null {
  if (/<!DOCTYPE/i.test(text)) return null;
  try {
    const tt = nodesOf(PARSER.parse(text)).find(({ name }) => name === "tt");
    if (!tt || (tt.attributes.timeBase ?? "media") !== "media") return null;
    const body = tt.children.find(({ name }) => name === "body");
    if (!body) return { definitions: [], cues: [] };
    const context = { rates: ratesOf(tt.attributes), styles: stylesOf(tt) };
    const whole: Span = { startMs: 0, endMs: MAX_CUE_MS };
    const cues = paragraphs(body, whole, context).toSorted((a, b) => a.startMs - b.startMs);
    return { definitions: [], cues };
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
type Rates = { readonly framesPerSecond: number; readonly ticksPerSecond: number };
type Context = { readonly rates: Rates; readonly styles: ReadonlyMap<string, Attributes> };

/** Frames and ticks (TTML2 §7.2.6, §7.2.12). */
function ratesOf({ frameRate, frameRateMultiplier, tickRate }: Attributes): Rates {
  const [numerator = 1, denominator = 1] = (frameRateMultiplier ?? "1 1").split(/[ :]/).map(Number);
  const frames = Number(frameRate ?? 30);
  const ticks = Number(tickRate ?? (frameRate === undefined ? 1 : frames));
  return { framesPerSecond: (frames * numerator) / denominator, ticksPerSecond: ticks };
}

function stylesOf(tt: Node): Map<string, Attributes> {
  const styling = tt.children.find(({ name }) => name === "head")?.children.find(({ name }) => name === "styling");
  return new Map((styling?.children ?? []).map(({ attributes }) => [attributes.id ?? "", attributes]));
}

const CLOCK = /^(\d{2,}):(\d\d):(\d\d)(?:\.(\d{1,9})|:(\d{2,}))?$/;
const OFFSET = /^(\d{1,12}(?:\.\d{1,9})?)(h|m|s|ms|f|t)$/;

/** A time expression in ms (TTML2 §12.3.1). Throws for others. */
function msOf(time: string, { framesPerSecond, ticksPerSecond }: Rates): number {
  const clock = CLOCK.exec(time);
  if (clock) {
    return clockMs(clock.slice(1, 5)) + (Number(clock[5] ?? 0) / framesPerSecond) * 1000;
  }
  const [, value = "", unit = ""] = OFFSET.exec(time) ?? [];
  const units = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, f: 1000 / framesPerSecond, t: 1000 / ticksPerSecond };
  const ms = Number(value) * (units[unit as keyof typeof units] ?? Number.NaN);
  if (value === "" || !Number.isFinite(ms)) throw new Error("No time expression");
  return ms;
}

/** The active time of an element inside that of its parent (TTML2 §12.4). */
function spanOf({ attributes }: Node, parent: Span, { rates }: Context): Span {
  const { begin, end, dur, timeContainer } = attributes;
  if (timeContainer === "seq") throw new Error("Sequential times are not supported");
  const startMs = parent.startMs + (begin === undefined ? 0 : msOf(begin, rates));
  const ends = [
    parent.endMs,
    ...(end === undefined ? [] : [parent.startMs + msOf(end, rates)]),
    ...(dur === undefined ? [] : [startMs + msOf(dur, rates)]),
  ];
  return { startMs, endMs: Math.min(...ends) };
}

function paragraphs(node: Node, parent: Span, context: Context): Cue[] {
  const span = spanOf(node, parent, context);
  if (node.name !== "p") {
    return node.children
      .filter(({ name }) => name === "div" || name === "p")
      .flatMap((child) => paragraphs(child, span, context));
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

/** The text of an element with WebVTT tags, by its active times. */
function textParts(node: Node, span: Span, context: Context, keepsSpace: boolean): Part[] {
  const tags = tagsOf(node.attributes, context);
  const inside = node.children.flatMap((child): Part[] => {
    if (child.name === "#text")
      return [{ ...span, text: cueText(keepsSpace ? child.text : child.text.replaceAll(/\s+/g, " ")) }];
    if (child.name === "br") return [{ ...span, text: "\n" }];
    if (child.name !== "span") return [];
    const { space } = child.attributes;
    const keeps = space === undefined ? keepsSpace : space === "preserve";
    return textParts(child, spanOf(child, span, context), context, keeps);
  });
  return inside.map((part) =>
    part.text.trim() === ""
      ? part
      : { ...part, text: tags.reduce((text, tag) => `<${tag}>${text}</${tag}>`, part.text) },
  );
}

function tagsOf(attributes: Attributes, { styles }: Context): string[] {
  const referenced = (attributes.style ?? "").split(/\s+/).map((id) => styles.get(id) ?? {});
  const style: Attributes = Object.assign({}, ...referenced, attributes);
  return [
    ...(style.fontStyle === "italic" || style.fontStyle === "oblique" ? ["i"] : []),
    ...(style.fontWeight === "bold" ? ["b"] : []),
    ...(style.textDecoration?.split(" ").includes("underline") ? ["u"] : []),
  ];
}

/** A cue has no blank lines. */
const cleanText = (text: string): string =>
  text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
