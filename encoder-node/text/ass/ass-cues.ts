// The text of ASS scripts as cues, for text tracks: bold, italics and underlining, without drawings.
import { AppError } from "#shared/errors.ts";
import { escapedText } from "../escaped-text.ts";
import type { Cue, WebVtt } from "../subtitle-cues.ts";
import { type AssStyle, STYLE_NUMBERS, splitBlocks } from "./ass-script.ts";
import { parseAss } from "./parse-ass.ts";

/** Throws AppError `subtitle_failed` for a script that is not usable. */
export function assCues(text: string): WebVtt {
  const script = parseAss(text, { fontOf: () => null, fallback: "" });
  if (typeof script === "string") throw new AppError("subtitle_failed", script);
  const styles = new Map(script.styles.map((style) => [style.name, tagsOf(style)]));
  const cues = script.events.flatMap(({ startMs, endMs, style, text }): Cue[] => {
    const visible = cueText(text, style, styles);
    return visible === "" ? [] : [{ startMs, endMs, settings: "", text: visible }];
  });
  return { definitions: [], cues: cues.toSorted((a, b) => a.startMs - b.startMs) };
}

const NAMES: Readonly<Record<string, (typeof STYLE_NUMBERS)[number]>> = { b: "Bold", i: "Italic", u: "Underline" };

/** The tags of WebVTT that a style means. */
const tagsOf = ({ numbers }: AssStyle): string =>
  Object.keys(NAMES)
    .filter((tag) => numbers[STYLE_NUMBERS.indexOf(NAMES[tag] ?? "Bold")] !== 0)
    .join("");

/** Tags that count here: bold, italics, underlining, drawings, and the return to a style. */
const TAG = /\\(?:([biup])(\d*)(?![a-z(])|r([^\\]*))/gi;

/** The text of an event that `cleanText` wrote. */
function cueText(text: string, style: string, styles: ReadonlyMap<string, string>): string {
  const styleTags = styles.get(style) ?? "";
  const runs: { tags: string; text: string }[] = [];
  let [tags, isDrawing] = [styleTags, false];
  for (const part of splitBlocks(text)) {
    if (!part.isBlock) {
      const last = runs.at(-1);
      if (isDrawing) continue;
      if (last?.tags === tags) last.text += part.text;
      else runs.push({ tags, text: part.text });
      continue;
    }
    for (const [, name = "", value = "", reset] of part.text.matchAll(TAG)) {
      if (reset !== undefined) tags = styles.get(reset) ?? styleTags;
      else if (name === "p") isDrawing = value !== "0";
      else {
        const isOn = value === "" ? styleTags.includes(name) : value !== "0";
        tags = Object.keys(NAMES)
          .filter((tag) => (tag === name ? isOn : tags.includes(tag)))
          .join("");
      }
    }
  }
  const lines = runs.map(tagged).join("").split("\n");
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
}

const PLAIN: Readonly<Record<string, string>> = {
  "\\N": "\n",
  "\\n": "\n",
  "\\h": "\u00A0",
  "\\{": "{",
  "\\\u2060": "\\",
};

function tagged({ tags, text }: { readonly tags: string; readonly text: string }): string {
  const plain = escapedText(text.replaceAll(/\\[Nnh{\u2060]/g, (character) => PLAIN[character] ?? character));
  if (plain.trim() === "") return plain;
  return [...tags].reduceRight((inner, tag) => `<${tag}>${inner}</${tag}>`, plain);
}
