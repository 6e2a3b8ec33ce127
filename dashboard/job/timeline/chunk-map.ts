// The chunks of a video in the order of their time, and the complete part from the video's start. Pure.
import type { Task } from "../../../client/index.ts";

export type ChunkCell = {
  readonly number: number;
  readonly seconds: number;
  readonly toSeconds: number;
  readonly status: Task["status"];
  /** Encoded share, 0 to 1. */
  readonly done: number;
  /** Number of nodes that have taken the chunk, including a speculative attempt. */
  readonly attempts: number;
  /** True if two nodes work on the chunk. */
  readonly isDouble: boolean;
};

export type ChunkMap = {
  readonly cells: readonly ChunkCell[];
  /** The length of the video. */
  readonly seconds: number;
  readonly completed: number;
  /** All chunks before this time are complete. */
  readonly completeToSeconds: number;
};

/** Progress of a chunk while its node transfers the source, encodes, or uploads. */
function doneOf({ status, stage, progress }: Task): number {
  if (status === "completed") return 1;
  if (status !== "running") return 0;
  return stage === "encoding" ? progress : stage === "uploading" ? 1 : 0;
}

const RANK: Readonly<Record<Task["status"], number>> = { failed: 0, waiting: 1, running: 2, completed: 3 };

/** null for a job without chunks. */
export function chunkMap(tasks: Iterable<Task>): ChunkMap | null {
  const byNumber = Map.groupBy(tasks, ({ chunk }) => chunk?.number);
  const cells = [...byNumber.values()].flatMap(cellOf).sort((a, b) => a.number - b.number);
  const last = cells.at(-1);
  if (!last) return null;
  const open = cells.findIndex(({ number, status }, at) => number !== at + 1 || status !== "completed");
  return {
    cells,
    seconds: last.toSeconds,
    completed: cells.filter(({ status }) => status === "completed").length,
    completeToSeconds: open === -1 ? last.toSeconds : (cells[open - 1]?.toSeconds ?? 0),
  };
}

/** The cell of a chunk shows its completed task, or the task with the most progress. */
function cellOf(tasks: readonly Task[]): ChunkCell[] {
  const best = tasks.reduce((a, b) => ((RANK[b.status] - RANK[a.status] || doneOf(b) - doneOf(a)) > 0 ? b : a));
  if (!best.chunk) return [];
  const { number, from_seconds, to_seconds } = best.chunk;
  return [
    {
      number,
      seconds: to_seconds - from_seconds,
      toSeconds: to_seconds,
      status: best.status,
      done: doneOf(best),
      attempts: tasks.reduce((sum, { attempt }) => sum + attempt, 0),
      isDouble: tasks.filter(({ status }) => status === "running").length > 1,
    },
  ];
}
