// Limits the text of captions that are written more than once. A caption that is shown during others has a part for
// each of them, so that a file of 0.2 MB could become hundreds of megabytes.
import { AppError } from "#shared/errors.ts";

/** Hours of speech are a few hundred kilobytes. */
const MAX_CHARACTERS = 20e6;
/** A part takes memory, however short its text is. */
const PART_CHARACTERS = 100;

/** Counts the texts of parts. Throws AppError `subtitle_failed` with the message when they are far too long. */
export function textBudget(message: string): (...texts: readonly string[]) => void {
  let left = MAX_CHARACTERS;
  return (...texts) => {
    for (const { length } of texts) left -= length;
    left -= PART_CHARACTERS;
    if (left < 0) throw new AppError("subtitle_failed", message);
  };
}
