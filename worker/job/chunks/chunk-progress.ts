// The progress of outputs that are made of chunks.
import type { ChunkWork } from "../state/chunk-state.ts";
import type { JobState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";
import { rangesOf } from "./chunk-work.ts";

/** Shares of the whole: the chunks by their frames, the audio, and joining with uploading. */
const AUDIO_SHARE = 0.02;
const JOIN_SHARE = 0.13;
const CHUNKS_SHARE = 1 - AUDIO_SHARE - JOIN_SHARE;

/** Progress of outputs that are made of chunks, 0 to 1. `fractionOf` returns the progress of a task. */
export function chunkedFraction(
  { tasks, chunkResults }: JobState,
  work: ChunkWork,
  fractionOf: (task: TaskState) => number,
): number {
  const best = (kind: TaskState["kind"], chunk: number | null = null): number =>
    Math.max(0, ...tasks.filter((task) => task.kind === kind && task.chunk === chunk).map(fractionOf));
  const shares = rangesOf(work).map(({ index, frames }) => {
    return (frames / work.video.frames) * (chunkResults[index] ? 1 : best("chunk", index));
  });
  const chunks = shares.reduce((sum, share) => sum + share, 0);
  const audio = work.audioOutputs.length === 0 || work.audio !== null ? 1 : best("audio");
  return CHUNKS_SHARE * chunks + AUDIO_SHARE * audio + JOIN_SHARE * best("join");
}
