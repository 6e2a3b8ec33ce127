// When the job's scratch folders are to be removed.
import { isTerminalJob } from "#shared/job/job-status.ts";
import type { JobState } from "../state/job-state.ts";

/** The folders to remove, and when: at the job's end, or a while later if a retry could still use what is there. */
export function scratchToClear(state: JobState): { folder: number; dueAt: number }[] {
  const { folder, isUsed, keepMs, leftovers } = state.scratch;
  const due = leftovers.map((leftover) => ({ folder: leftover, dueAt: 0 }));
  if (!isUsed || !isTerminalJob(state.status)) return due;
  const isKept = state.status === "job.failed" && Object.keys(state.chunkResults).length > 0;
  return [...due, { folder, dueAt: isKept ? (state.completedAt ?? 0) + keepMs : 0 }];
}

/** Closes a folder before it is removed: a job that is begun anew meanwhile uses the next one. */
export function closeScratch(state: JobState, folder: number): JobState {
  const { scratch } = state;
  if (scratch.folder !== folder) return state;
  return {
    ...state,
    scratch: { ...scratch, folder: folder + 1, isUsed: false, leftovers: [...scratch.leftovers, folder] },
  };
}

/** The folder is gone, or so often not to be removed that the bucket's own lifecycle rule is left to do it. */
export const scratchCleared = (state: JobState, folder: number): JobState => ({
  ...state,
  scratch: { ...state.scratch, leftovers: state.scratch.leftovers.filter((leftover) => leftover !== folder) },
});

/** Removals that failed, over some twenty minutes, before they are left to the bucket. */
const MAX_CLEARS = 10;
export const clearName = (folder: number): string => `clear-scratch:${folder}`;
export const mayClearAgain = (state: JobState, folder: number): boolean =>
  (state.retries[clearName(folder)]?.attempts ?? 0) < MAX_CLEARS;
