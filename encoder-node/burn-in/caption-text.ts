// Writes the text of a caption file as the script of an output.
import { AppError } from "#shared/errors.ts";
import type { BurnSpec } from "#shared/job/burn.ts";
import { isAss } from "../package/text/clipped-ass.ts";
import { escapedCues } from "../package/text/escaped-text.ts";
import { isWebVtt, parseWebVtt } from "../package/text/subtitle-cues.ts";
import { isTtml, parseTtml } from "../package/text/ttml.ts";
import { type AssScript, toHundredths } from "./ass-script.ts";
import { captionScript, DEFAULT_STYLE } from "./caption-script.ts";
import { parseAss, plainEvents } from "./parse-ass.ts";
import type { Fonts } from "./requested-font.ts";
import { separateEvents, shiftEvents } from "./separate-events.ts";

/** `isConverted`: ffmpeg wrote the text. Throws AppError `subtitle_failed` if the text is not usable. */
export function scriptOf(text: string, burn: BurnSpec, fonts: Fonts, isConverted = false): AssScript {
  const script = isAss(text) ? scriptOfAss(text, burn, fonts) : scriptOfCues(text, burn, fonts, isConverted);
  if (typeof script === "string") throw new AppError("subtitle_failed", script);
  const events = separateEvents(shiftEvents(script.events, toHundredths(burn.shiftMs)));
  if (!events) throw new AppError("subtitle_failed", "too many of its captions overlap");
  return { ...script, events };
}

const NO_MARGINS = [0, 0, 0] as const;

function scriptOfAss(text: string, { style, keepsStyle }: BurnSpec, { chosen, fontOf }: Fonts): AssScript | string {
  if (keepsStyle) return parseAss(text, { fontOf, fallback: chosen.family });
  const events = plainEvents(text).map((event) => ({ ...event, layer: 0, style: DEFAULT_STYLE, margins: NO_MARGINS }));
  return { ...captionScript([], style, chosen, false), events };
}

/** SubRip is WebVTT with other points and numbers, as far as cues are concerned. */
function scriptOfCues(
  text: string,
  { style, keepsStyle }: BurnSpec,
  { chosen }: Fonts,
  isConverted: boolean,
): AssScript | string {
  const isKnown = isWebVtt(text) || isTtml(text);
  const vtt = isTtml(text) ? parseTtml(text) : parseWebVtt(isWebVtt(text) ? text : `WEBVTT\n\n${text}`);
  if (!vtt || (vtt.cues.length === 0 && !isKnown)) return "it is none of WebVTT, SubRip, TTML, ASS and SCC";
  const { cues } = isConverted ? escapedCues(vtt) : vtt;
  return captionScript(cues, style, chosen, keepsStyle);
}
