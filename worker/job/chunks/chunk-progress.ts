// How far a film is that is made of chunks.
import type { ChunkWork } from "../state/chunk-state.ts";
import type { JobState, TaskState } from "../state/job-state.ts";
import { rangesOf } from "./chunk-work.ts";

/** Shares of the whole: the chunks by their frames, the sound, and joining and uploading. */
const SOUND_SHARE = 0.02;
const JOIN_SHARE = 0.13;
const CHUNKS_SHARE = 1 - SOUND_SHARE - JOIN_SHARE;

/** 0 to 1. `fractionOf` says how far a task is. */
export function chunkedFraction(
  { tasks, chunkResults }: JobState,
  work: ChunkWork,
  fractionOf: (task: TaskState) => number,
): number {
  const best = (kind: TaskState["kind"], chunk: number | null = null): number =>
    Math.max(0, ...tasks.filter((task) => task.kind === kind && task.chunk === chunk).map(fractionOf));
  const shares = rangesOf(work).map(({ index, frames }) => {
    return (frames / work.film.frames) * (chunkResults[index] ? 1 : best("chunk", index));
  });
  const chunks = shares.reduce((sum, share) => sum + share, 0);
  const sound = work.sounding.length === 0 || work.sound !== null ? 1 : best("sound");
  return CHUNKS_SHARE * chunks + SOUND_SHARE * sound + JOIN_SHARE * best("join");
}
