// Days of usage as bars: sums, heights, and grid lines. Pure.
import type { UsageDay } from "../../client/index.ts";
import { count } from "../core/format.ts";
import { TIERS, type Tier } from "../core/tiers.ts";

/** A bar: its days, and its parts from below. */
export type Bar = {
  readonly from: string;
  readonly to: string;
  readonly parts: readonly { readonly tier: Tier; readonly minutes: number }[];
  readonly minutes: number;
};

/** More bars are too thin: then each bar stands for a week. */
const MAX_BARS = 62;
const WEEK = 7;

/** A bar for each day, or for each seven days of a long range. The last bar may have fewer days. */
export function barsOf(days: readonly UsageDay[]): readonly Bar[] {
  const step = days.length > MAX_BARS ? WEEK : 1;
  const bars: Bar[] = [];
  for (let at = 0; at < days.length; at += step) {
    const group = days.slice(at, at + step);
    const [first, last] = [group[0], group.at(-1)];
    if (!first || !last) continue;
    const parts = TIERS.map((tier) => ({
      tier,
      minutes: group.reduce((sum, { output_seconds }) => sum + output_seconds[tier], 0) / 60,
    }));
    bars.push({ from: first.day, to: last.day, parts, minutes: parts.reduce((sum, { minutes }) => sum + minutes, 0) });
  }
  return bars;
}

/** The tiers with minutes in any of the bars. */
export const tiersOf = (bars: readonly Bar[]): readonly Tier[] =>
  TIERS.filter((tier) => bars.some(({ parts }) => parts.some((part) => part.tier === tier && part.minutes > 0)));

/** Round values from 0 to at least `max`: 1, 2 or 5 times a power of ten apart, at most five steps. */
export function scaleOf(max: number): readonly number[] {
  if (max <= 0) return [0, 1];
  const rough = max / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, at) => at * step);
}

/** A value of a scale. Rounding removes the float's error below 10. */
export const axisText = (minutes: number): string =>
  minutes < 10 ? `${Number(minutes.toPrecision(3))}` : count(minutes);

/** A part of a bar in a chart; y grows downwards. */
export type Rect = {
  readonly tier: Tier;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

/** A chart: its size, the minutes at its upper edge, and the number of its bars. */
export type Chart = { readonly width: number; readonly height: number; readonly top: number; readonly count: number };

/** The visible parts of a bar, stacked. `at`: the index of the bar. */
export function stackOf(bar: Bar, at: number, { width, height, top, count }: Chart): Rect[] {
  const slot = width / count;
  const gap = Math.min(4, slot * 0.2);
  let y = height;
  return bar.parts.flatMap(({ tier, minutes }) => {
    const part = (minutes / top) * height;
    y -= part;
    return part === 0 ? [] : [{ tier, x: at * slot + gap / 2, y, width: slot - gap, height: part }];
  });
}

/** The days as text for spreadsheets (RFC 4180). */
export function csvOf(days: readonly UsageDay[]): string {
  const head =
    "day,completed,failed,canceled,audio_seconds,sd_seconds,hd_seconds,uhd_seconds,node_seconds,stored_bytes";
  const rows = days.map(({ day, jobs, output_seconds, node_seconds, stored_bytes }) =>
    [
      day,
      ...[jobs.completed, jobs.failed, jobs.cancelled],
      ...TIERS.map((tier) => output_seconds[tier]),
      ...[node_seconds, stored_bytes],
    ].join(","),
  );
  return `${[head, ...rows].join("\r\n")}\r\n`;
}
