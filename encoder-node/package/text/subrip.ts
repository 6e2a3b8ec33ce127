// Formats cues as SubRip. The format has no standard; players know bold, italics and underlining.
import { timeText } from "#shared/media/clock-time.ts";
import { decodedReferences } from "./escaped-text.ts";
import type { WebVtt } from "./subtitle-cues.ts";

/** A tag of WebVTT. Classes and annotations follow the name (WebVTT §3.4). */
const TAG = /(<[^<>]*>)/;

/** A text without cues is a blank line, because storages reject empty files. */
export const subRipText = ({ cues }: WebVtt): string => (cues.length === 0 ? "\n" : blocks(cues));

const blocks = (cues: WebVtt["cues"]): string =>
  cues
    .map(({ startMs, endMs, text }, at) => {
      const times = `${timeText(startMs, ",")} --> ${timeText(endMs, ",")}`;
      return `${at + 1}\n${times}\n${plainText(text)}\n`;
    })
    .join("\n");

/**
 * SubRip cannot escape characters: players and ffmpeg take text such as `<you>` for a tag, and drop it. An invisible
 * word joiner prevents that.
 */
const plainText = (text: string): string =>
  text
    .split(TAG)
    .map((part, at) =>
      at % 2 === 1 ? knownTag(part) : decodedReferences(part).replaceAll(/<(?=[\w/]+(?:\s[^<>]*)?>)/g, "<\u2060"),
    )
    .join("");

function knownTag(tag: string): string {
  const [, name] = /^<(\/?[biu])[.>]/.exec(tag) ?? [];
  return name === undefined ? "" : `<${name}>`;
}
