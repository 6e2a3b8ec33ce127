// Moves cues in time.
import { clockMs, timeText } from "#shared/media/clock-time.ts";
import { MAX_CUE_MS, type WebVtt } from "./subtitle-cues.ts";

/** A time inside the text of a cue, from which the following text counts as spoken (WebVTT §3.4). */
const INNER_TIME = /<(?:(\d+):)?([0-5]\d):([0-5]\d)\.(\d{3})>/g;

/** Cues with `byMs` added to their times. Drops cues that end before time 0. */
export function movedCues({ definitions, cues }: WebVtt, byMs: number): WebVtt {
  const by = Math.round(byMs);
  const inside = (ms: number): number => Math.min(MAX_CUE_MS, Math.max(0, ms + by));
  const moved = cues.map((cue) => ({
    ...cue,
    startMs: inside(cue.startMs),
    endMs: inside(cue.endMs),
    text:
      by === 0 ? cue.text : cue.text.replaceAll(INNER_TIME, (_, ...parts) => `<${timeText(inside(clockMs(parts)))}>`),
  }));
  return { definitions, cues: moved.filter(({ startMs, endMs }) => startMs < endMs) };
}

/** A part of the source's timeline, in ms, and the time at which the part starts in the result. */
export type ShownPart = { readonly fromMs: number; readonly toMs: number; readonly leadMs: number };

/** The cues of a part of the source. */
export function clippedCues({ definitions, cues }: WebVtt, { fromMs, toMs, leadMs }: ShownPart): WebVtt {
  const inside = cues
    .filter(({ startMs }) => startMs < toMs)
    .map((cue) => ({ ...cue, endMs: Math.min(cue.endMs, toMs) }));
  return movedCues(movedCues({ definitions, cues: inside }, -fromMs), leadMs);
}
