// The phases of a task, with every legal move.

export const TASK_PHASES = ["pending", "leased", "completing", "done", "failed"] as const;
export type TaskPhase = (typeof TASK_PHASES)[number];

/**
 * `complete`: all bytes are in the storage, and multipart uploads wait for completion. `complete` from pending: the
 * task is given up, except for outputs that are in the storage already. `renew` from pending: a lease had expired, no
 * other node has the task, and its node has reported again.
 */
export type TaskMove = "claim" | "renew" | "release" | "complete" | "finish" | "abandon";

export const TASK_TABLE = {
  pending: { claim: "leased", renew: "leased", complete: "completing", abandon: "failed" },
  leased: { renew: "leased", release: "pending", complete: "completing", finish: "done", abandon: "failed" },
  completing: { release: "pending", finish: "done", abandon: "failed" },
  done: {},
  failed: {},
} as const satisfies Record<TaskPhase, Partial<Record<TaskMove, TaskPhase>>>;

/** The phase after a move, or null when the table has no such move. */
export function moveTask(from: TaskPhase, move: TaskMove): TaskPhase | null {
  const row: Partial<Record<TaskMove, TaskPhase>> = TASK_TABLE[from];
  return row[move] ?? null;
}
