// Speculative attempts: a chunk that takes much longer than the others is also given to a second node. The first good
// result counts.
import { addTask, patchTask } from "../state/job-moves.ts";
import type { JobState } from "../state/job-state.ts";
import { newTask, type TaskState } from "../state/task-state.ts";
import { activeWork, avoiding, freshChunks, rangesOf } from "./chunk-work.ts";

/** A chunk is slow if it takes this many times as long per frame as the median of the finished chunks. */
const SLOW_FACTOR = 2;
/** Minimum number of finished chunks for a median. */
const MIN_FINISHED = 2;
/** Shorter times vary with the network. */
const MIN_SLOW_MS = 10_000;

/** The running chunks with the time at which each counts as slow. Empty while other chunks wait for a node. */
export function speculationsDue(state: JobState): { task: TaskState; at: number }[] {
  const work = activeWork(state);
  const running = state.tasks.filter((task) => task.maySpeculate && task.phase === "leased");
  const isWaiting = state.tasks.some(({ kind, phase }) => kind === "chunk" && phase === "pending");
  if (!work || running.length === 0 || isWaiting || freshChunks(state).length > 0) return [];
  const ranges = rangesOf(work);
  const framesOf = (index: number): number => ranges[index]?.frames ?? 1;
  const msPerFrame = Object.entries(state.chunkResults).map(([index, { tookMs }]) => tookMs / framesOf(Number(index)));
  const median = msPerFrame.toSorted((a, b) => a - b)[Math.floor(msPerFrame.length / 2)];
  if (msPerFrame.length < MIN_FINISHED || median === undefined) return [];
  return running.map((task) => {
    const limitMs = Math.max(MIN_SLOW_MS, SLOW_FACTOR * median * framesOf(task.chunk ?? 0));
    return { task, at: (task.lease?.since ?? 0) + limitMs };
  });
}

/** Adds speculative attempts for the chunks that are slow by now. */
export function startSpeculations(state: JobState, now: number): JobState {
  const slow = speculationsDue(state).filter(({ at }) => at <= now);
  return slow.reduce((next, { task }) => {
    return addTask(patchTask(next, task.id, { maySpeculate: false }), speculativeTask(state, task));
  }, state);
}

/** A second task for a chunk, for another node. */
function speculativeTask({ round }: JobState, { id, chunk, outputs, avoid, lease }: TaskState): TaskState {
  const others = avoiding([...avoid, lease?.nodeId ?? ""]);
  return newTask({ kind: "chunk", round, chunk, outputs, speculativeOf: id, avoid: others });
}
