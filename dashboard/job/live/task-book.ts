// The tasks of a job, as the sum of the changes in its event stream. Pure.
import type { Attempt, Task, TaskChanges, TaskList } from "../../../client/index.ts";

export type Stage = NonNullable<Task["stage"]>;
/** A stage that was seen to start. */
export type StageStart = { readonly stage: Stage; readonly atMs: number };

export type TaskBook = {
  readonly tasks: ReadonlyMap<string, Task>;
  /** Ended attempts in the order of their ends. */
  readonly attempts: readonly Attempt[];
  /** Observed stages of attempts, by `attemptKey`: the service reports only the present stage. */
  readonly stages: ReadonlyMap<string, readonly StageStart[]>;
};

export const EMPTY_BOOK: TaskBook = { tasks: new Map(), attempts: [], stages: new Map() };

export const attemptKey = (task: string, attempt: number): string => `${task} ${attempt}`;

/** The book after the event `tasks`, which arrived at `nowMs` by the service's clock. */
export function applyChanges(book: TaskBook, changes: TaskChanges, nowMs: number): TaskBook {
  const tasks = new Map(book.tasks);
  for (const id of changes.removed) tasks.delete(id);
  for (const task of changes.tasks) tasks.set(task.id, task);
  const known = new Set(book.attempts.map(endKey));
  const added = changes.attempts.filter((attempt) => !known.has(endKey(attempt)));
  // A lost attempt may still complete.
  const replaced = new Set(added.map(({ task, attempt }) => attemptKey(task, attempt)));
  const current = added.length === 0 ? book.attempts : book.attempts.filter((attempt) => !replaced.has(keyOf(attempt)));
  return {
    ...book,
    tasks,
    attempts: added.length === 0 ? current : [...current, ...added].sort(byEnd),
    stages: withStages(book, changes.tasks, nowMs),
  };
}

/** The book after the complete list has been read. */
export function replaceTasks(book: TaskBook, list: TaskList, nowMs: number): TaskBook {
  return {
    tasks: new Map(list.tasks.map((task) => [task.id, task])),
    attempts: list.attempts,
    stages: withStages(book, list.tasks, nowMs),
  };
}

const keyOf = ({ task, attempt }: Attempt): string => attemptKey(task, attempt);
const endKey = (attempt: Attempt): string => `${keyOf(attempt)} ${attempt.outcome}`;
const byEnd = (a: Attempt, b: Attempt): number => Date.parse(a.ended_at) - Date.parse(b.ended_at);

/** Adds a start for each task whose stage differs from the last observed stage. */
function withStages({ stages }: TaskBook, tasks: readonly Task[], nowMs: number): TaskBook["stages"] {
  const next = new Map(stages);
  for (const { id, attempt, stage, status, started_at } of tasks) {
    if (status !== "running" || stage === undefined) continue;
    const key = attemptKey(id, attempt);
    const seen = next.get(key) ?? [];
    if (seen.at(-1)?.stage === stage) continue;
    const startMs = started_at === undefined ? nowMs : Date.parse(started_at);
    const atMs = Math.max(startMs, nowMs);
    if (seen.length > 0) next.set(key, [...seen, { stage, atMs }]);
    // Nothing is known from before an attempt was first seen. An attempt that uploads has encoded before.
    else if (stage === "uploading" || stage === "holding")
      next.set(key, [
        { stage: "encoding", atMs: startMs },
        { stage, atMs },
      ]);
    else next.set(key, [{ stage, atMs: startMs }]);
  }
  return next;
}
