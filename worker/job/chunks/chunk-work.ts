// The chunks of a job: their ranges, the finished chunks, and the tasks that the other chunks need.
import { isTerminalJob } from "#shared/job/job-status.ts";
import { burnOf } from "#shared/job/output-spec.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import { unpackSplitPoints } from "#shared/media/frame-index.ts";
import { chunkSpans } from "#shared/plan/chunks/choose-split-points.ts";
import type { ChunkSpan } from "#shared/protocol/chunks.ts";
import { type ScratchTrack, scratchFolder } from "#shared/protocol/scratch.ts";
import type { ChunkResult, ChunkWork } from "../state/chunk-state.ts";
import type { JobState } from "../state/job-state.ts";
import { newTask, type TaskState } from "../state/task-state.ts";

/** The work on chunks, if outputs are being made of them now. */
export const activeWork = ({ chunks, status }: JobState): ChunkWork | null =>
  chunks?.isActive && !isTerminalJob(status) ? chunks : null;

/** All chunks, in time order. */
export const rangesOf = ({ splitPoints, video }: Pick<ChunkWork, "splitPoints" | "video">): ChunkSpan[] =>
  chunkSpans({ ...video, splitPoints: [] }, unpackSplitPoints(splitPoints));

export const chunkCount = ({ splitPoints }: Pick<ChunkWork, "splitPoints">): number => splitPoints.length + 1;

/** The outputs made of chunks that have not ended. */
export const wantedOutputs = (state: JobState, work: ChunkWork): number[] =>
  work.outputs.filter((index) => !isTerminalOutput(state.outputs[index]?.phase ?? "failed"));

/** True for the tasks that together make outputs of chunks. */
export const isChunkedTask = ({ kind }: Pick<TaskState, "kind">): boolean =>
  kind === "chunk" || kind === "audio" || kind === "texts" || kind === "join";

/** Folder of the scratch bucket that only this attempt of a task may write to. */
export const attemptFolder = ({ id, attempt }: Pick<TaskState, "id" | "attempt">): string => scratchFolder(id, attempt);

/** The tracks of a finished chunk, for these outputs. */
export function tracksOf(work: ChunkWork, result: ChunkResult, outputs: readonly number[]): ScratchTrack[] {
  const folder = attemptFolder({ id: result.task, attempt: result.attempt });
  return work.layout.flatMap(({ output, track }, at) => {
    const trackResult = result.tracks[at];
    if (!trackResult || !outputs.includes(output)) return [];
    const [name, sizeBytes, frames] = trackResult;
    return [{ output, track, name: folder + name, sizeBytes, frames }];
  });
}

/** The tracks of the finished chunks from `from` on, up to the first unfinished chunk. */
export function finishedChunks(
  state: JobState,
  { outputs }: Pick<TaskState, "outputs">,
  from: number,
): ScratchTrack[][] {
  const work = activeWork(state);
  const chunks: ScratchTrack[][] = [];
  for (let result = state.chunkResults[from]; work && result; result = state.chunkResults[from + chunks.length]) {
    chunks.push(tracksOf(work, result, outputs));
  }
  return chunks;
}

/** True if all chunks, the audio and the text are done: they can be joined. */
export const isWhole = ({ chunkResults }: Pick<JobState, "chunkResults">, work: ChunkWork): boolean =>
  Object.keys(chunkResults).length >= chunkCount(work) && hasAudio(work) && hasTexts(work);

const hasAudio = ({ audioOutputs, audio }: ChunkWork): boolean => audioOutputs.length === 0 || audio !== null;
const hasTexts = ({ textOutputs, texts }: ChunkWork): boolean => textOutputs.length === 0 || texts !== null;

/** True if a task joins the first chunks while others are still encoded. */
export const joinsEarly = (state: JobState, { kind }: Pick<TaskState, "kind">): boolean => {
  const work = kind === "join" ? activeWork(state) : null;
  return work !== null && !isWhole(state, work);
};

/**
 * True if a stream can be played already: its first chunk, audio and text are done, and its client wants to play early.
 */
export const mayJoinEarly = (state: JobState, work: ChunkWork): boolean =>
  work.mayJoinEarly &&
  state.chunkResults[0] !== undefined &&
  hasAudio(work) &&
  hasTexts(work) &&
  isPlayedEarly(state, work);

const isPlayedEarly = (state: JobState, work: ChunkWork): boolean =>
  wantedOutputs(state, work).some((index) => {
    const spec = state.spec.outputs[index];
    return spec?.type === "httpstream" && spec.livePlaylist;
  });

/** Maximum number of nodes that a task avoids: its tickets, which the hub stores, list them all. */
const MAX_AVOIDED = 16;
/** The last nodes of the list, each once, for a task to avoid. */
export const avoiding = (nodeIds: readonly string[]): string[] =>
  [...new Set(nodeIds.toReversed())].slice(0, MAX_AVOIDED).reverse();

/** The other task for the same chunk. */
export const otherAttempt = ({ tasks }: JobState, { id, chunk }: TaskState): TaskState | undefined =>
  chunk === null ? undefined : tasks.find((other) => other.chunk === chunk && other.id !== id);

/** True if chunks wait for text that is drawn into their frames. */
const waitForTexts = (state: JobState, work: ChunkWork): boolean =>
  !hasTexts(work) &&
  wantedOutputs(state, work).some((index) => {
    const spec = state.spec.outputs[index];
    return spec !== undefined && burnOf(spec)?.from !== undefined;
  });

/**
 * Tasks for the chunks that no node has started. They join the state when a node claims them. The longest chunks come
 * first; for a stream that is played early they are in time order.
 */
export function freshChunks(state: JobState): TaskState[] {
  const work = activeWork(state);
  if (!work || waitForTexts(state, work)) return [];
  const started = new Set(state.tasks.map(({ chunk }) => chunk));
  const outputs = wantedOutputs(state, work);
  const inOrder = work.mayJoinEarly && isPlayedEarly(state, work);
  return rangesOf(work)
    .filter(({ index }) => !started.has(index) && !state.chunkResults[index])
    .toSorted((a, b) => (inOrder ? a.index - b.index : b.frames - a.frames))
    .map(({ index }) => newTask({ kind: "chunk", round: state.round, chunk: index, outputs, maySpeculate: true }));
}
