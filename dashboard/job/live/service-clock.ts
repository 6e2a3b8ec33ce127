// An estimate of the service's clock from its events: the timeline draws running tasks up to the service's present.
// Pure.
import type { TaskChanges } from "../../../client/index.ts";
import type { TaskBook } from "./task-book.ts";

/** The service's clock minus the browser's, in ms; null: not known yet. */
export type Skew = number | null;

/** Clocks with a smaller difference count as equal, because events need some time to arrive. */
const TOLERANCE_MS = 1500;

/**
 * The skew after an event that arrived at `arrivedMs`. Each time in the event is in the past, so the service's clock is
 * at least that late. Times that the book did not have before have just passed (null: the book was empty).
 */
export function skewAfter(skew: Skew, book: TaskBook | null, changes: TaskChanges, arrivedMs: number): Skew {
  const known = new Set(book ? timesOf({ tasks: [...book.tasks.values()], attempts: book.attempts }) : []);
  const latest = Math.max(...timesOf(changes).filter((time) => !known.has(time)));
  if (!Number.isFinite(latest)) return skew;
  const least = latest - arrivedMs;
  if (skew !== null) return Math.max(skew, least);
  return book !== null || least > 0 ? least : null;
}

/** The service's present time. */
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
