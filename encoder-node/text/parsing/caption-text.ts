// Writes the text of a caption file as the script of an output.
import { AppError } from "#shared/errors.ts";
import type { BurnSpec } from "#shared/job/burn.ts";
import { type AssScript, toHundredths } from "../ass/ass-script.ts";
import { parseAss } from "../ass/parse-ass.ts";
import { separateEvents, shiftEvents } from "../ass/separate-events.ts";
import { captionScript } from "../burn-in/caption-script.ts";
import { type Fonts, familyIn } from "../burn-in/node-fonts.ts";
import { cuesOf, type SubtitleText } from "./subtitle-text.ts";

export type Script = { readonly script: AssScript; readonly notes: readonly string[] };

/** Throws AppError `subtitle_failed` if the text is not usable. */
export function scriptOf(read: SubtitleText, burn: BurnSpec, fonts: Fonts): Script {
  const { script, notes } = unseparated(read, burn, fonts);
  const events = separateEvents(shiftEvents(script.events, toHundredths(burn.shiftMs)));
  return { script: { ...script, events }, notes };
}

function unseparated(read: SubtitleText, { style, keepsStyle }: BurnSpec, fonts: Fonts): Script {
  if (read.format === "ass" && keepsStyle) {
    const script = parseAss(read.text, { fontOf: familyIn(fonts), fallback: fonts.chosen.family });
    if (typeof script === "string") throw new AppError("subtitle_failed", script);
    return { script, notes: read.notes };
  }
  const { text, notes } = cuesOf(read, keepsStyle);
  return { script: captionScript(text.cues, style, fonts.chosen, keepsStyle), notes };
}
