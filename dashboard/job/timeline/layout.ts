// Positions on the timeline: the rows of nodes, the visible period, the marks of its axis. Pure.
import { type Bar, endOf } from "./bars.ts";

export type NodeRows = {
  readonly node: string;
  /** The bars of each slot, in the order of their starts. */
  readonly slots: readonly (readonly Bar[])[];
};

/**
 * The hub passes reports and claims on together, so a node's next task may start shortly before the stored end of the
 * previous task. Bars share a slot if they overlap by at most this share of the shorter bar, and by at most this many
 * ms.
 */
const MAX_OVERLAP = { share: 0.1, ms: 1000 };

/**
 * The nodes in the order of their first bars. Each bar gets the first free slot of its node, and keeps it while further
 * bars start. `bars`: sorted by their start.
 */
export function rowsOf(bars: readonly Bar[]): NodeRows[] {
  const nodes = new Map<string, Bar[][]>();
  for (const bar of bars) {
    const slots = nodes.get(bar.node) ?? [];
    nodes.set(bar.node, slots);
    const free = slots.find((slot) => slot.at(-1) && isOver(slot.at(-1), bar));
    if (free) free.push(bar);
    else slots.push([bar]);
  }
  return [...nodes].map(([node, slots]) => ({ node, slots }));
}

/** True if a bar has ended when the next bar of its node starts. */
function isOver(before: Bar | undefined, next: Bar): boolean {
  if (!before || before.toMs === null) return false;
  const overlap = before.toMs - next.fromMs;
  if (overlap <= 0) return true;
  const shorter = Math.min(before.toMs - before.fromMs, (next.toMs ?? Number.POSITIVE_INFINITY) - next.fromMs);
  return overlap <= Math.min(MAX_OVERLAP.ms, shorter * MAX_OVERLAP.share);
}

/** A period; ms since 1970. */
export type Period = { readonly fromMs: number; readonly toMs: number };

/** The present is not closer to the end of the period than this share of it. */
const HEADROOM = 0.04;
/** A wait before the first task is shown in full up to this share of the whole. */
const MAX_WAIT_SHARE = 0.4;
/** The shortest period of a running job. */
const MIN_PERIOD_S = 10;

/**
 * The period from the creation of a job to its end. After a long wait, it starts with the first bar. While the job
 * runs, it ends with the estimated end (`endsMs`, null: unknown), rounded up so that it changes seldom.
 */
export function wholePeriod(
  bars: readonly Bar[],
  { createdMs, nowMs, endsMs, isOver }: { createdMs: number; nowMs: number; endsMs: number | null; isOver: boolean },
): Period {
  const firstMs = bars[0]?.fromMs ?? createdMs;
  const lastMs = isOver && bars.length > 0 ? Math.max(...bars.map((bar) => endOf(bar, nowMs))) : nowMs;
  const wait = firstMs - createdMs;
  const fromMs = wait >= 0 && wait <= MAX_WAIT_SHARE * (lastMs - createdMs) ? createdMs : firstMs;
  const length = Math.max(1000, lastMs - fromMs);
  if (isOver) return { fromMs, toMs: fromMs + length * (1 + HEADROOM / 2) };
  const seconds = Math.max(MIN_PERIOD_S, (Math.max(length, (endsMs ?? 0) - fromMs) * (1 + HEADROOM)) / 1000);
  const step = stepOf(seconds / 4);
  return { fromMs, toMs: fromMs + Math.ceil(seconds / step) * step * 1000 };
}

/** A period stays as it is while the next period is at least this share as long: estimates go up and down. */
const STEADY_SHARE = 0.6;

/** The period to show while a job runs. It changes only if `next` is longer, much shorter, or has another start. */
export function steadyPeriod(before: Period | null, next: Period): Period {
  if (before?.fromMs !== next.fromMs) return next;
  const share = (next.toMs - next.fromMs) / (before.toMs - before.fromMs);
  return share <= 1 && share > STEADY_SHARE ? before : next;
}

const RECENT_MS = 600_000;

/** The last ten minutes before `nowMs`; null if the whole is not longer. */
export function recentPeriod(whole: Period, nowMs: number): Period | null {
  const toMs = Math.min(whole.toMs, nowMs + RECENT_MS * HEADROOM);
  return toMs - RECENT_MS > whole.fromMs ? { fromMs: toMs - RECENT_MS, toMs } : null;
}

/** A period that is `width` pixels wide. */
export type Scale = Period & { readonly width: number };

/** The position of a time: 0 at the start of the period or before, 1 at its end or later. */
export const shareOf = ({ fromMs, toMs }: Period, timeMs: number): number =>
  Math.min(1, Math.max(0, (timeMs - fromMs) / (toMs - fromMs)));

/** The pixels between two times. */
export const pixelsOf = (scale: Scale, fromMs: number, toMs: number): number =>
  (shareOf(scale, toMs) - shareOf(scale, fromMs)) * scale.width;

/** The style of an element from one time to another time. */
export const spanOf = (period: Period, fromMs: number, toMs: number) => ({
  left: `${shareOf(period, fromMs) * 100}%`,
  width: `${(shareOf(period, toMs) - shareOf(period, fromMs)) * 100}%`,
});

/** The first text that fits into `width` pixels, with an average width of its characters. "": none fits. */
export const fittingText = (texts: readonly string[], width: number, character: number): string =>
  texts.find((text) => text.length * character <= width) ?? "";

/** Distances between marks, in seconds. */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200];
const DAY_S = 86_400;

const stepOf = (leastS: number): number => STEPS.find((step) => step >= leastS) ?? Math.ceil(leastS / DAY_S) * DAY_S;

/** Seconds since `zeroMs` that get a mark, at least `gap` pixels apart, all within the period. */
export function ticksOf(scale: Scale, zeroMs: number, gap: number): number[] {
  const step = stepOf(((gap / Math.max(1, scale.width)) * (scale.toMs - scale.fromMs)) / 1000);
  const first = Math.ceil((scale.fromMs - zeroMs) / 1000 / step - 1e-9);
  const last = Math.floor((scale.toMs - zeroMs) / 1000 / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => Math.round((first + at) * step * 10) / 10);
}
