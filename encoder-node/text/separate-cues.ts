// Separates cues that overlap, for formats that show a single text at a time.

import { AppError } from "#shared/errors.ts";
import type { Cue, WebVtt } from "./subtitle-cues.ts";

/**
 * Cues of which never two are shown together: where cues overlap, a cue has the lines of all of them. Throws AppError
 * `subtitle_failed` if the text would become far too long.
 */
export function separateCues({ definitions, cues }: WebVtt): WebVtt {
  const times = [...new Set(cues.flatMap(({ startMs, endMs }) => [startMs, endMs]))].toSorted((a, b) => a - b);
  const separate: Cue[] = [];
  let active: Cue[] = [];
  let next = 0;
  const spend = textBudget("too many of its cues overlap");
  for (const [at, startMs] of times.entries()) {
    active = active.filter(({ endMs }) => endMs > startMs);
    for (let cue = cues[next]; cue && cue.startMs <= startMs; cue = cues[++next]) active.push(cue);
    const [first] = active;
    if (!first) continue;
    const text = active.map((cue) => cue.text).join("\n");
    spend(text);
    separate.push({ ...first, startMs, endMs: times[at + 1] ?? first.endMs, text });
  }
  return { definitions, cues: separate };
}

// Limits the text of captions that are written more than once. A caption that is shown during others has a part for
// each of them, so that a file of 0.2 MB could become hundreds of megabytes.

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
