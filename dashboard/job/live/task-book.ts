// The tasks of a job, as the changes of its event stream add up. Pure.
import type { Attempt, Task, TaskChanges, TaskList } from "../../../client/index.ts";

export type Stage = NonNullable<Task["stage"]>;
/** A stage that was seen to begin. */
export type StageStart = { readonly stage: Stage; readonly atMs: number };

export type TaskBook = {
  readonly tasks: ReadonlyMap<string, Task>;
  /** Ended attempts by their end. */
  readonly attempts: readonly Attempt[];
  /** Number of earlier attempts that are not kept. */
  readonly dropped: number;
  /** What attempts were seen to do, by `attemptKey`: the service only reports what they do now. */
  readonly stages: ReadonlyMap<string, readonly StageStart[]>;
};

export const EMPTY_BOOK: TaskBook = { tasks: new Map(), attempts: [], dropped: 0, stages: new Map() };

export const attemptKey = (task: string, attempt: number): string => `${task} ${attempt}`;

/** The book after an event `tasks`, which arrived at `nowMs` by the service's clock. */
export function applyChanges(book: TaskBook, changes: TaskChanges, nowMs: number): TaskBook {
  const tasks = new Map(book.tasks);
  for (const id of changes.removed) tasks.delete(id);
  for (const task of changes.tasks) tasks.set(task.id, task);
  const known = new Set(book.attempts.map(endKey));
  const added = changes.attempts.filter((attempt) => !known.has(endKey(attempt)));
  // A lost attempt may complete after all.
  const replaced = new Set(added.map(({ task, attempt }) => attemptKey(task, attempt)));
  const kept = added.length === 0 ? book.attempts : book.attempts.filter((one) => !replaced.has(keyOf(one)));
  return {
    ...book,
    tasks,
    attempts: added.length === 0 ? kept : [...kept, ...added].sort(byEnd),
    stages: withStages(book, changes.tasks, nowMs),
  };
}

/** The book after the complete list was read. */
export function replaceTasks(book: TaskBook, list: TaskList, nowMs: number): TaskBook {
  return {
    tasks: new Map(list.tasks.map((task) => [task.id, task])),
    attempts: list.attempts,
    dropped: list.attempts_dropped,
    stages: withStages(book, list.tasks, nowMs),
  };
}

const keyOf = ({ task, attempt }: Attempt): string => attemptKey(task, attempt);
const endKey = (attempt: Attempt): string => `${keyOf(attempt)} ${attempt.outcome}`;
const byEnd = (a: Attempt, b: Attempt): number => Date.parse(a.ended_at) - Date.parse(b.ended_at);

/** A task whose stage is not the one that was seen last has begun another. */
function withStages({ stages }: TaskBook, tasks: readonly Task[], nowMs: number): TaskBook["stages"] {
  const next = new Map(stages);
  for (const { id, attempt, stage, status, started_at } of tasks) {
    if (status !== "running" || stage === undefined) continue;
    const key = attemptKey(id, attempt);
    const seen = next.get(key) ?? [];
    if (seen.at(-1)?.stage === stage) continue;
    const startMs = started_at === undefined ? nowMs : Date.parse(started_at);
    const begun = Math.max(startMs, nowMs);
    if (seen.length > 0) next.set(key, [...seen, { stage, atMs: begun }]);
    // What was before the first sight of an attempt is not known; what it stores now it has encoded before.
    else if (stage === "uploading")
      next.set(key, [
        { stage: "encoding", atMs: startMs },
        { stage, atMs: begun },
      ]);
    else next.set(key, [{ stage, atMs: startMs }]);
  }
  return next;
}
