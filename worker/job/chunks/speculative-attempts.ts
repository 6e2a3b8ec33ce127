// A chunk that takes much longer than the others is given to a second node as well: the first good one counts.

import { addTask, patchTask } from "../state/job-moves.ts";
import type { JobState, TaskState } from "../state/job-state.ts";
import { activeWork, freshChunks, newTwin, rangesOf } from "./chunk-work.ts";

/** How often the others' time, for the same number of frames, a chunk may take. */
const SLOW = 2;
/** From so many finished chunks on the others' time is known. */
const LEAST_KNOWN = 2;
/** Differences below this are the network's. */
const LEAST_MS = 10_000;

/** The chunks that are being worked on with their times to be doubled; none while others wait for a node. */
export function twinsDue(state: JobState): { task: TaskState; at: number }[] {
  const work = activeWork(state);
  const slow = state.tasks.filter((task) => task.mayTwin && task.phase === "leased");
  const isWaiting = state.tasks.some(({ kind, phase }) => kind === "chunk" && phase === "pending");
  if (!work || slow.length === 0 || isWaiting || freshChunks(state).length > 0) return [];
  const ranges = rangesOf(work);
  const framesOf = (index: number): number => ranges[index]?.frames ?? 1;
  const paces = Object.entries(state.chunkResults).map(([index, { tookMs }]) => tookMs / framesOf(Number(index)));
  const pace = paces.toSorted((a, b) => a - b)[Math.floor(paces.length / 2)];
  if (paces.length < LEAST_KNOWN || pace === undefined) return [];
  return slow.map((task) => {
    const limitMs = Math.max(LEAST_MS, SLOW * pace * framesOf(task.chunk ?? 0));
    return { task, at: (task.grant?.since ?? 0) + limitMs };
  });
}

/** Offers twins of the chunks that are too slow by now. */
export function offerTwins(state: JobState, now: number): JobState {
  return twinsDue(state)
    .filter(({ at }) => at <= now)
    .reduce((next, { task }) => addTask(patchTask(next, task.id, { mayTwin: false }), newTwin(task)), state);
}
