// Phases of a task with every legal move.

export const TASK_PHASES = ["pending", "leased", "publishing", "done", "failed"] as const;
export type TaskPhase = (typeof TASK_PHASES)[number];

/**
 * `publish`: all bytes lie in the storage, multipart uploads wait to be completed. `renew` from pending: a lease had
 * lapsed, nobody else took the task, and its node turns out to be alive. `publish` from pending: the task is given up, except
 * for outputs that are in the storage already.
 */
export type TaskMove = "claim" | "renew" | "release" | "publish" | "finish" | "abandon";

export const TASK_TABLE = {
  pending: { claim: "leased", renew: "leased", publish: "publishing", abandon: "failed" },
  leased: { renew: "leased", release: "pending", publish: "publishing", finish: "done", abandon: "failed" },
  publishing: { release: "pending", finish: "done", abandon: "failed" },
  done: {},
  failed: {},
} as const satisfies Record<TaskPhase, Partial<Record<TaskMove, TaskPhase>>>;

/** The phase after a move, or null when the table has no such move. */
export function moveTask(from: TaskPhase, move: TaskMove): TaskPhase | null {
  const row: Partial<Record<TaskMove, TaskPhase>> = TASK_TABLE[from];
  return row[move] ?? null;
}
