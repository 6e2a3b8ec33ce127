// Lists of byte ranges, such as the ranges of a source that are on disk. Pure.
import type { ByteRange } from "#shared/network/http-headers.ts";

/** Adds a range to disjoint ranges in ascending order. Merges ranges that overlap or touch. */
export function withRange(ranges: readonly ByteRange[], { start, end }: ByteRange): readonly ByteRange[] {
  const touching = ranges.filter((range) => range.start <= end + 1 && range.end >= start - 1);
  const merged = {
    start: Math.min(start, ...touching.map((range) => range.start)),
    end: Math.max(end, ...touching.map((range) => range.end)),
  };
  const before = ranges.filter((range) => range.end < merged.start);
  const after = ranges.filter((range) => range.start > merged.end);
  return [...before, merged, ...after];
}

/** The parts of a range that are in none of the `taken` ranges. `taken` may have any order, and may overlap. */
export function gapsIn(taken: readonly ByteRange[], { start, end }: ByteRange): ByteRange[] {
  const gaps: ByteRange[] = [];
  let at = start;
  for (const range of taken.toSorted((a, b) => a.start - b.start)) {
    if (range.start > end) break;
    if (range.start > at) gaps.push({ start: at, end: range.start - 1 });
    at = Math.max(at, range.end + 1);
  }
  return at <= end ? [...gaps, { start: at, end }] : gaps;
}

/** First byte from `position` on that is in none of the disjoint ranges. */
export const endOfRun = (ranges: readonly ByteRange[], position: number): number =>
  (ranges.find(({ start, end }) => start <= position && position <= end)?.end ?? position - 1) + 1;

export const bytesIn = (ranges: readonly ByteRange[]): number =>
  ranges.reduce((sum, { start, end }) => sum + end + 1 - start, 0);
