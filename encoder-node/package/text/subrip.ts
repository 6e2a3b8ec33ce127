// Formats cues as SubRip. The format has no standard; players know bold, italics and underlining.
import { timeText } from "#shared/media/clock-time.ts";
import { decodedReferences } from "./escaped-text.ts";
import type { WebVtt } from "./subtitle-cues.ts";

/** A tag of WebVTT, as far as SubRip may know it. Classes and annotations follow the name (WebVTT §3.4). */
const TAG = /<(\/?[biu])(?:\.[^<>]*)?>|<[^<>]*>/g;

/** A text without cues is a blank line, because storages reject empty files. */
export const subRipText = ({ cues }: WebVtt): string => (cues.length === 0 ? "\n" : blocks(cues));

const blocks = (cues: WebVtt["cues"]): string =>
  cues
    .map(({ startMs, endMs, text }, at) => {
      const times = `${timeText(startMs, ",")} --> ${timeText(endMs, ",")}`;
      return `${at + 1}\n${times}\n${plainText(text)}\n`;
    })
    .join("\n");

const plainText = (text: string): string =>
  decodedReferences(text.replaceAll(TAG, (_, name: string | undefined) => (name === undefined ? "" : `<${name}>`)));
