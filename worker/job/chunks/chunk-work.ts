// The chunks of a film: where each begins and ends, which are done, and the tasks that the others need.

import { isTerminalJob } from "#shared/job/job-status.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import { unpackCuts } from "#shared/media/frame-index.ts";
import { spansOf } from "#shared/plan/chunks/choose-split-points.ts";
import type { ChunkSpan } from "#shared/protocol/chunk-span.ts";
import { type ScratchTrack, scratchFolder } from "#shared/protocol/chunking.ts";
import type { ChunkResult, ChunkWork } from "../state/chunk-state.ts";
import { type JobState, newTask, type TaskState } from "../state/job-state.ts";

/** The work on chunks, if the job's films are being made of them now. */
export const activeWork = ({ chunks, status }: JobState): ChunkWork | null =>
  chunks?.isActive && !isTerminalJob(status) ? chunks : null;

/** All chunks, in order of time. */
export const rangesOf = ({ cuts, film }: Pick<ChunkWork, "cuts" | "film">): ChunkSpan[] =>
  spansOf({ ...film, cuts: [] }, unpackCuts(cuts));

export const chunkCount = ({ cuts }: Pick<ChunkWork, "cuts">): number => cuts.length + 1;

/** Of the outputs that chunks make those that have not ended. */
export const wantedOutputs = (state: JobState, work: ChunkWork): number[] =>
  work.outputs.filter((index) => !isTerminalOutput(state.outputs[index]?.phase ?? "failed"));

/** Whether a task is a part of a film that is made of chunks. */
export const isPart = ({ kind }: Pick<TaskState, "kind">): boolean =>
  kind === "chunk" || kind === "sound" || kind === "join";

/** Folder of the scratch bucket that a grant, and no other, may write to. */
export const grantFolder = ({ id, attempt }: Pick<TaskState, "id" | "attempt">): string => scratchFolder(id, attempt);

/** The tracks of a finished chunk, for these outputs. */
export function tracksOf(work: ChunkWork, result: ChunkResult, outputs: readonly number[]): ScratchTrack[] {
  const folder = grantFolder({ id: result.task, attempt: result.attempt });
  return work.layout.flatMap(({ output, track }, at) => {
    const made = result.tracks[at];
    if (!made || !outputs.includes(output)) return [];
    const [name, sizeBytes, frames] = made;
    return [{ output, track, name: folder + name, sizeBytes, frames }];
  });
}

export function newChunkTask(round: number, index: number, outputs: readonly number[]): TaskState {
  const id = `chunk-${index}${round === 0 ? "" : `-r${round}`}`;
  return { ...newTask(round, "chunk", outputs), id, chunk: index, mayTwin: true };
}

/** Nodes that a task remembers: its tickets, which the hub keeps, name them all. */
const MAX_AVOIDED = 16;
/** The nodes for a task to avoid, each once: the last of those that are named. */
export const avoiding = (nodeIds: readonly string[]): string[] =>
  [...new Set(nodeIds.toReversed())].slice(0, MAX_AVOIDED).reverse();

/** A second task for a chunk whose first one is slow: it goes to another node. */
export const newTwin = (task: TaskState): TaskState => ({
  ...newTask(0, "chunk", task.outputs),
  ...{ id: `${task.id}-twin`, chunk: task.chunk, avoid: avoiding([...task.avoid, task.grant?.nodeId ?? ""]) },
});

/** The other task for the same chunk. */
export const twinOf = ({ tasks }: JobState, { id, chunk }: TaskState): TaskState | undefined =>
  chunk === null ? undefined : tasks.find((other) => other.chunk === chunk && other.id !== id);

/** Tasks for the chunks that nobody has begun, the longest first: they are no part of the state until a node claims them. */
export function freshChunks(state: JobState): TaskState[] {
  const work = activeWork(state);
  if (!work) return [];
  const begun = new Set(state.tasks.map(({ chunk }) => chunk));
  const outputs = wantedOutputs(state, work);
  return rangesOf(work)
    .filter(({ index }) => !begun.has(index) && !state.chunkResults[index])
    .toSorted((a, b) => b.frames - a.frames)
    .map(({ index }) => newChunkTask(state.round, index, outputs));
}
