// Positions of the bars on the timeline: lanes of nodes, and the visible period. Pure.
import { type Bar, endOf } from "./bars.ts";

/** A bar on a lane; lanes are numbered from the top, over all nodes. */
export type PlacedBar = { readonly bar: Bar; readonly lane: number };

export type NodeRows = {
  readonly node: string;
  /** The first lane of the node. */
  readonly lane: number;
  /** The highest number of tasks that the node worked on at the same time. */
  readonly lanes: number;
};

export type TimelineLayout = {
  /** In the order of their first bars. */
  readonly nodes: readonly NodeRows[];
  readonly placed: readonly PlacedBar[];
  readonly lanes: number;
};

/**
 * The hub passes reports and claims on together, so a node's next task may start shortly before the stored end of the
 * previous task. Bars share a lane if they overlap by at most this share of the shorter bar, and by at most this many
 * ms.
 */
const MAX_OVERLAP = { share: 0.1, ms: 1000 };

/**
 * Assigns each bar the first free lane of its node, in the order of their starts. A bar keeps its lane while further
 * bars start. `bars`: sorted by their start.
 */
export function layOut(bars: readonly Bar[]): TimelineLayout {
  const byNode = new Map<string, { bar: Bar; lane: number }[]>();
  for (const bar of bars) {
    const onNode = byNode.get(bar.node) ?? [];
    byNode.set(bar.node, onNode);
    onNode.push({ bar, lane: freeLane(onNode, bar) });
  }
  const nodes: NodeRows[] = [];
  const placed: PlacedBar[] = [];
  let first = 0;
  for (const [node, onNode] of byNode) {
    const lanes = Math.max(...onNode.map(({ lane }) => lane)) + 1;
    nodes.push({ node, lane: first, lanes });
    for (const { bar, lane } of onNode) placed.push({ bar, lane: first + lane });
    first += lanes;
  }
  return { nodes, placed, lanes: first };
}

function freeLane(placed: readonly { bar: Bar; lane: number }[], bar: Bar): number {
  // The last bar of each lane; earlier bars of the lane have ended before.
  const last: Bar[] = [];
  for (const { bar: other, lane } of placed) last[lane] = other;
  const free = last.findIndex((other) => isOver(other, bar));
  return free === -1 ? last.length : free;
}

/** True if a bar has ended when the next bar of its node starts. */
function isOver(before: Bar, next: Bar): boolean {
  if (before.toMs === null) return false;
  const overlap = before.toMs - next.fromMs;
  if (overlap <= 0) return true;
  const shorter = Math.min(before.toMs - before.fromMs, (next.toMs ?? Number.POSITIVE_INFINITY) - next.fromMs);
  return overlap <= Math.min(MAX_OVERLAP.ms, shorter * MAX_OVERLAP.share);
}

/** A period; ms since 1970. */
export type Period = { readonly fromMs: number; readonly toMs: number };

/** Lengths of the visible period while a job runs, in seconds. The period changes seldom, and bars grow in between. */
const SPANS = [10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1800, 2700, 3600];
const LARGEST_SPAN_S = 3600;
/** The present is not closer to the end than this share of the period. */
const HEADROOM = 0.04;
/** A wait before the first task is shown in full up to this share of the whole. */
const MAX_WAIT_SHARE = 0.4;

/**
 * The period from the creation of a job to its end. After a long wait, it starts with the first bar. While the job
 * runs, it ends with the estimated end (`endsMs`, null: unknown), rounded up.
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
  return { fromMs, toMs: fromMs + roundedSpan(Math.max(length, (endsMs ?? 0) - fromMs) * (1 + HEADROOM)) };
}

/** A period stays as it is while the next period is at least this share as long: estimates go up and down. */
const STEADY_SHARE = 0.6;

/** The period to show while a job runs. It changes only if `next` is longer, much shorter, or has another start. */
export function steadyPeriod(before: Period | null, next: Period): Period {
  if (before?.fromMs !== next.fromMs) return next;
  const share = (next.toMs - next.fromMs) / (before.toMs - before.fromMs);
  return share <= 1 && share > STEADY_SHARE ? before : next;
}

function roundedSpan(ms: number): number {
  const seconds = ms / 1000;
  const span = SPANS.find((span) => span >= seconds);
  return (span ?? Math.ceil(seconds / LARGEST_SPAN_S) * LARGEST_SPAN_S) * 1000;
}

/** Positions on an axis of `width` pixels. */
export type Scale = Period & { readonly width: number };

export const xOf = ({ fromMs, toMs, width }: Scale, timeMs: number): number =>
  ((timeMs - fromMs) / (toMs - fromMs)) * width;

export const timeAt = ({ fromMs, toMs, width }: Scale, x: number): number => fromMs + (x / width) * (toMs - fromMs);

/** Distances between ticks, in seconds. */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200];
const DAY_S = 86_400;

/**
 * Seconds since `zero` that get a mark, at least `gap` pixels apart, all within the period. `zero` and the period have
 * the same unit; `perSecond` of this unit make a second.
 */
export function ticksOf(scale: Scale, zero: number, gap: number, perSecond = 1000): number[] {
  const seconds = (scale.toMs - scale.fromMs) / perSecond;
  const least = (gap / Math.max(1, scale.width)) * seconds;
  const step = STEPS.find((step) => step >= least) ?? Math.ceil(least / DAY_S) * DAY_S;
  const first = Math.ceil((scale.fromMs - zero) / perSecond / step - 1e-9);
  const last = Math.floor((scale.toMs - zero) / perSecond / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => Math.round((first + at) * step * 10) / 10);
}

/** The shortest period that can be shown. */
const MIN_PERIOD_MS = 500;

/** A period around `centerMs`, `factor` times as long, inside the whole. */
export function zoomed(period: Period, whole: Period, factor: number, centerMs: number): Period {
  const length = Math.max(MIN_PERIOD_MS, (period.toMs - period.fromMs) * factor);
  const share = (centerMs - period.fromMs) / (period.toMs - period.fromMs);
  const fromMs = centerMs - share * length;
  return within({ fromMs, toMs: fromMs + length }, whole);
}

/** A period moved by a share of its length, inside the whole. */
export function panned(period: Period, whole: Period, share: number): Period {
  const by = (period.toMs - period.fromMs) * share;
  return within({ fromMs: period.fromMs + by, toMs: period.toMs + by }, whole);
}

/** A period of the same length inside the whole; the whole if `period` is longer. */
export function within(period: Period, whole: Period): Period {
  const length = Math.max(MIN_PERIOD_MS, period.toMs - period.fromMs);
  if (length >= whole.toMs - whole.fromMs) return whole;
  const fromMs = Math.min(Math.max(period.fromMs, whole.fromMs), whole.toMs - length);
  return { fromMs, toMs: fromMs + length };
}
