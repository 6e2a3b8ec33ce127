// Moves events in time, and separates events that libass would stack.
import type { AssEvent } from "./ass-script.ts";
import { partOf } from "./started-later.ts";

/** Shifts events. Drops events before 0, and the start of events that then start before 0. */
export const shiftEvents = (events: readonly AssEvent[], byMs: number): AssEvent[] =>
  events.flatMap((event) => {
    const moved = { ...event, startMs: event.startMs + byMs, endMs: event.endMs + byMs };
    return moved.endMs <= 0 ? [] : [partOf(moved, Math.max(0, moved.startMs), moved.endMs)];
  });

const MAX_PARTS = 200_000;

/** libass places these where they state, without regard to other events. Text outside of blocks has no such tags. */
const PLACED = /\\(?:pos|move)\(/;

/**
 * Divides events of a layer that overlap in time, so that all of them start and end together. libass keeps the place of
 * a stacked event as long as it is shown, so its place depends on events before it. A chunk that starts later has not
 * shown those. Null if there are far too many parts.
 */
export function separateEvents(events: readonly AssEvent[]): AssEvent[] | null {
  const divided = new Map<AssEvent, AssEvent[]>();
  let parts = events.length;
  for (const layer of Map.groupBy(events.filter(isStacked), (event) => event.layer).values()) {
    for (const cluster of clustersOf(layer)) {
      const times = [...new Set(cluster.flatMap(({ startMs, endMs }) => [startMs, endMs]))].sort((a, b) => a - b);
      for (const event of cluster) {
        const from = firstAbove(times, event.startMs);
        const inside = times.slice(from, firstAbove(times, event.endMs - 1));
        parts += inside.length;
        if (parts > MAX_PARTS) return null;
        const bounds = [event.startMs, ...inside, event.endMs];
        divided.set(
          event,
          bounds.slice(1).map((to, at) => partOf(event, bounds[at] ?? 0, to)),
        );
      }
    }
  }
  return events.flatMap((event) => divided.get(event) ?? [event]);
}

const isStacked = ({ text }: AssEvent): boolean => !PLACED.test(text);

/** Index of the first time above a time. */
function firstAbove(times: readonly number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

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
