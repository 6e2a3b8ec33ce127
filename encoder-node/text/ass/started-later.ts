// Events that start later than before: a part of an event, or an event whose start is not shown.
import type { AssEvent } from "./ass-script.ts";

/** The part of an event from one time to another. */
export const partOf = (event: AssEvent, startMs: number, endMs: number): AssEvent => ({
  ...event,
  startMs,
  endMs,
  text: startedLater(event.text, startMs - event.startMs, event.endMs - event.startMs),
});

/**
 * The text of an event that starts later by `byMs`, whole hundredths of a second. Its fades, movements and karaoke
 * continue. `lengthMs`: the length of the event before. The text comes from `cleanText`.
 */
function startedLater(text: string, byMs: number, lengthMs: number): string {
  if (byMs === 0) return text;
  const later = text.replace(/\{[^{}]*\}/g, (block) =>
    block
      .replace(/\\fade?\(([^()]*)\)/g, (_, list: string) => {
        const [first = 0, second = 0, ...others] = list.split(",").map(Number);
        const [third = 0, ...times] = others;
        const levels = others.length === 0 ? [255, 0, 255] : [first, second, third];
        const fade = others.length === 0 ? [0, first, lengthMs - second, lengthMs] : times;
        return `\\fade(${[...levels, ...fade.map((ms) => ms - byMs)].join()})`;
      })
      .replace(/\\move\(([^()]*)\)/g, (_, list: string) => {
        const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, from = 0, to = lengthMs] = list.split(",").map(Number);
        if (to <= byMs) return `\\pos(${x2},${y2})`;
        return `\\move(${[x1, y1, x2, y2, from - byMs, to - byMs].join()})`;
      })
      .replace(/\\t\(([^\\]*)\\/g, (_, list: string) => {
        const values = list.split(",").slice(0, -1);
        const [from, to] = values.length >= 2 ? values.map(Number) : [0, lengthMs];
        const rest = values.length % 2 === 1 ? `${values.at(-1)},` : "";
        return `\\t(${(from ?? 0) - byMs},${(to ?? 0) - byMs},${rest}\\`;
      }),
  );
  return /\\[kK]/.test(text) ? `{\\k${-byMs / 10}}${later}` : later;
}
