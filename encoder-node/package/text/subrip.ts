// Formats cues as SubRip. The format has no standard; players know bold, italics and underlining.
import { timeText, type WebVtt } from "./subtitle-cues.ts";

/** A tag of WebVTT, as far as SubRip may know it. Classes and annotations follow the name (WebVTT §3.4). */
const TAG = /<(\/?[biu])(?:\.[^<>]*)?>|<[^<>]*>/g;
const REFERENCES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&nbsp;": "\u00A0",
  "&lrm;": "\u200E",
  "&rlm;": "\u200F",
};

/** A text without cues is a blank line, because storages reject empty files. */
export const subRipText = ({ cues }: WebVtt): string => (cues.length === 0 ? "\n" : blocks(cues));

const blocks = (cues: WebVtt["cues"]): string =>
  cues
    .map(({ startMs, endMs, text }, at) => {
      const times = `${timeText(startMs, ",")} --> ${timeText(endMs, ",")}`;
      return `${at + 1}\n${times}\n${plainText(text)}\n`;
    })
    .join("\n");

function plainText(text: string): string {
  const known = text.replaceAll(TAG, (_, name: string | undefined) => (name === undefined ? "" : `<${name}>`));
  return known.replaceAll(/&(?:amp|lt|gt|nbsp|lrm|rlm);/g, (reference) => REFERENCES[reference] ?? reference);
}
