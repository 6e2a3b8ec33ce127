// Writes the text of a caption file as the script of an output.
import { AppError } from "#shared/errors.ts";
import type { BurnSpec } from "#shared/job/burn.ts";
import { cuesOf, type SubtitleText } from "../source/extras/subtitle-text.ts";
import { assCues } from "./ass-cues.ts";
import { type AssScript, toHundredths } from "./ass-script.ts";
import { captionScript } from "./caption-script.ts";
import { parseAss } from "./parse-ass.ts";
import type { Fonts } from "./requested-font.ts";
import { separateEvents, shiftEvents } from "./separate-events.ts";

export type Script = { readonly script: AssScript; readonly notes: readonly string[] };

/** Throws AppError `subtitle_failed` if the text is not usable. */
export async function scriptOf(read: SubtitleText, burn: BurnSpec, fonts: Fonts, signal: AbortSignal): Promise<Script> {
  const { script, notes } = await unseparated(read, burn, fonts, signal);
  const events = separateEvents(shiftEvents(script.events, toHundredths(burn.shiftMs)));
  return { script: { ...script, events }, notes };
}

async function unseparated(
  read: SubtitleText,
  { style, keepsStyle }: BurnSpec,
  { chosen, fontOf }: Fonts,
  signal: AbortSignal,
): Promise<Script> {
  if (read.format === "ass" && keepsStyle) {
    const script = parseAss(read.text, { fontOf, fallback: chosen.family });
    if (typeof script === "string") throw new AppError("subtitle_failed", script);
    return { script, notes: read.notes };
  }
  const { text, notes } = await cuesOf(read, { readAss: assCues, keepsStyle, signal });
  return { script: captionScript(text.cues, style, chosen, keepsStyle), notes };
}
