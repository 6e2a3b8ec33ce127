// The service's clock, as far as its events show it: running tasks are drawn up to its present. Pure.
import type { TaskChanges } from "../../../client/index.ts";
import type { TaskBook } from "./task-book.ts";

/** By how many ms the service's clock is ahead of the browser's; null: not known yet. */
export type Skew = number | null;

/** Clocks that differ by less are taken as equal: events need some time to arrive. */
const TOLERANCE_MS = 1500;

/**
 * What an event shows that arrived at `arrivedMs`: each of its times is of the past, so the service's clock is at least
 * that far. Times that the book did not have before (null: the book was empty) are of just now.
 */
export function skewAfter(skew: Skew, book: TaskBook | null, changes: TaskChanges, arrivedMs: number): Skew {
  const known = new Set(book ? timesOf({ tasks: [...book.tasks.values()], attempts: book.attempts }) : []);
  const latest = Math.max(...timesOf(changes).filter((time) => !known.has(time)));
  if (!Number.isFinite(latest)) return skew;
  const least = latest - arrivedMs;
  if (skew !== null) return Math.max(skew, least);
  return book !== null || least > 0 ? least : null;
}

/** The service's present. */
export const serviceNow = (skew: Skew, nowMs: number): number =>
  skew === null || Math.abs(skew) < TOLERANCE_MS ? nowMs : nowMs + skew;

type Timed = { readonly started_at?: string | undefined; readonly ended_at?: string | undefined };

const timesOf = ({
  tasks,
  attempts,
}: {
  readonly tasks: readonly Timed[];
  readonly attempts: readonly Timed[];
}): number[] =>
  [...tasks, ...attempts]
    .flatMap(({ started_at, ended_at }) => [started_at, ended_at])
    .flatMap((time) => (time === undefined ? [] : [Date.parse(time)]));
