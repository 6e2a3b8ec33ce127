// Decides when the job's scratch folders are removed.
import { isTerminalJob } from "#shared/job/job-status.ts";
import type { JobState } from "../state/job-state.ts";

/** Retention of the finished chunks of a failed job, for its retry. */
export const KEEP_MS = 60 * 60_000;

/** The folders to remove, and the time: at the job's end, or later if a retry could use their objects. */
export function scratchToClear(state: JobState): { folder: number; dueAt: number }[] {
  const { folder, isUsed, leftovers } = state.scratch;
  const due = leftovers.map((leftover) => ({ folder: leftover, dueAt: 0 }));
  if (!isUsed || !isTerminalJob(state.status)) return due;
  const isKept = state.status === "job.failed" && Object.keys(state.chunkResults).length > 0;
  return [...due, { folder, dueAt: isKept ? (state.completedAt ?? 0) + KEEP_MS : 0 }];
}

/** Closes a folder before it is removed: a job that is restarted meanwhile uses the next folder. */
export function closeScratch(state: JobState, folder: number): JobState {
  const { scratch } = state;
  if (scratch.folder !== folder) return state;
  return {
    ...state,
    scratch: { ...scratch, folder: folder + 1, isUsed: false, leftovers: [...scratch.leftovers, folder] },
  };
}

/** Forgets a folder that is gone, or that could not be removed in all attempts. */
export const scratchCleared = (state: JobState, folder: number): JobState => ({
  ...state,
  scratch: { ...state.scratch, leftovers: state.scratch.leftovers.filter((leftover) => leftover !== folder) },
});

/** Attempts to remove a folder, over about twenty minutes; after them it is left to the bucket's lifecycle rule. */
const MAX_CLEARS = 10;
export const clearName = (folder: number): string => `clear-scratch:${folder}`;
export const mayClearAgain = (state: JobState, folder: number): boolean =>
  (state.retries[clearName(folder)]?.attempts ?? 0) < MAX_CLEARS;
