// Writes the text of a caption file as the script of an output.
import { AppError } from "#shared/errors.ts";
import type { BurnSpec } from "#shared/job/burn.ts";
import { cuesOf, type SubtitleText } from "../source/extras/subtitle-text.ts";
import { assCues } from "./ass-cues.ts";
import { type AssScript, toHundredths } from "./ass-script.ts";
import { captionScript } from "./caption-script.ts";
import type { NamedFonts } from "./node-fonts.ts";
import { parseAss } from "./parse-ass.ts";
import { separateEvents, shiftEvents } from "./separate-events.ts";

export type Script = { readonly script: AssScript; readonly notes: readonly string[] };

/** Throws AppError `subtitle_failed` if the text is not usable. */
export function scriptOf(read: SubtitleText, burn: BurnSpec, fonts: NamedFonts): Script {
  const { script, notes } = unseparated(read, burn, fonts);
  const events = separateEvents(shiftEvents(script.events, toHundredths(burn.shiftMs)));
  return { script: { ...script, events }, notes };
}

function unseparated(read: SubtitleText, { style, keepsStyle }: BurnSpec, { chosen, fontOf }: NamedFonts): Script {
  if (read.format === "ass" && keepsStyle) {
    const script = parseAss(read.text, { fontOf, fallback: chosen.family });
    if (typeof script === "string") throw new AppError("subtitle_failed", script);
    return { script, notes: read.notes };
  }
  const { text, notes } = cuesOf(read, { readAss: assCues, keepsStyle });
  return { script: captionScript(text.cues, style, chosen, keepsStyle), notes };
}
