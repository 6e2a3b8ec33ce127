// Moves events in time, and separates events that libass would stack.
import { firstIndex } from "#shared/first-index.ts";
import { textBudget } from "../separate-cues.ts";
import type { AssEvent } from "./ass-script.ts";

/** Shifts events. Drops events before 0, and the start of events that then start before 0. */
export const shiftEvents = (events: readonly AssEvent[], byMs: number): AssEvent[] =>
  events.flatMap((event) => {
    const moved = { ...event, startMs: event.startMs + byMs, endMs: event.endMs + byMs };
    return moved.endMs <= 0 ? [] : [partOf(moved, Math.max(0, moved.startMs), moved.endMs)];
  });

/** libass places these where they state, without regard to other events. Text outside of blocks has no such tags. */
const PLACED = /\\(?:pos|move)\(/;

/**
 * Divides events of a layer that overlap in time, so that all of them start and end together. libass keeps the place of
 * a stacked event as long as it is shown, so its place depends on events before it. A chunk that starts later has not
 * shown those. Throws AppError `subtitle_failed` if the text of all parts would become far too long.
 */
export function separateEvents(events: readonly AssEvent[]): AssEvent[] {
  const divided = new Map<AssEvent, AssEvent[]>();
  const spend = textBudget("too many of its captions overlap");
  for (const layer of Map.groupBy(events.filter(isStacked), (event) => event.layer).values()) {
    for (const cluster of clustersOf(layer)) {
      const times = [...new Set(cluster.flatMap(({ startMs, endMs }) => [startMs, endMs]))].sort((a, b) => a - b);
      for (const event of cluster) {
        const from = firstAbove(times, event.startMs);
        const inside = times.slice(from, firstAbove(times, event.endMs - 1));
        const bounds = [event.startMs, ...inside, event.endMs];
        const parts = bounds.slice(1).map((to, at) => {
          const part = partOf(event, bounds[at] ?? 0, to);
          spend(part.text);
          return part;
        });
        divided.set(event, parts);
      }
    }
  }
  return events.flatMap((event) => divided.get(event) ?? [event]);
}

const isStacked = ({ text }: AssEvent): boolean => !PLACED.test(text);

/** Index of the first time above a time. */
const firstAbove = (times: readonly number[], time: number): number =>
  firstIndex(times.length, (at) => (times[at] ?? 0) > time);

/** Groups of at least two events, of which each overlaps another. */
function clustersOf(events: readonly AssEvent[]): AssEvent[][] {
  const clusters: AssEvent[][] = [];
  let cluster: AssEvent[] = [];
  let endMs = -1;
  for (const event of events.toSorted((a, b) => a.startMs - b.startMs)) {
    if (event.startMs >= endMs) {
      clusters.push(cluster);
      cluster = [];
    }
    cluster.push(event);
    endMs = Math.max(endMs, event.endMs);
  }
  return [...clusters, cluster].filter(({ length }) => length > 1);
}

// Events that start later than before: a part of an event, or an event whose start is not shown.

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
