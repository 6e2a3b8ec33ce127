// Formats cues as SubRip. The format has no standard; players know bold, italics and underlining.
import { timeText } from "#shared/media/clock-time.ts";
import { decodedReferences } from "./escaped-text.ts";
import type { WebVtt } from "./subtitle-cues.ts";

/** A tag of WebVTT. Classes and annotations follow the name (WebVTT §3.4). */
const TAG = /(<[^<>]*>)/;

/** A text without cues is a blank line, because storages reject empty files. */
export function subRipText({ cues }: WebVtt): string {
  const shown = cues.map((cue) => ({ ...cue, text: plainText(cue.text) })).filter(({ text }) => text !== "");
  const blocks = shown.map(({ startMs, endMs, text }, at) => {
    const times = `${timeText(startMs, ",")} --> ${timeText(endMs, ",")}`;
    return `${at + 1}\n${times}\n${text}\n`;
  });
  return blocks.length === 0 ? "\n" : blocks.join("\n");
}

/**
 * SubRip cannot escape characters: players and ffmpeg take text such as `<you>` for a tag and drop it, and parsers take
 * arrows for times. An invisible word joiner prevents both. A blank line would end the text.
 */
const plainText = (text: string): string =>
  text
    .split(TAG)
    .map((part, at) => (at % 2 === 1 ? knownTag(part) : literal(part)))
    .join("")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .join("\n");

const literal = (text: string): string =>
  decodedReferences(text)
    .replaceAll(/<(?=[\w/]+(?:\s[^<>]*)?>)/g, "<\u2060")
    .replaceAll("-->", "--\u2060>");

function knownTag(tag: string): string {
  const [, name] = /^<(\/?[biu])[.>]/.exec(tag) ?? [];
  return name === undefined ? "" : `<${name}>`;
}
