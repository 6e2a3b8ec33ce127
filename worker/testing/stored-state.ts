// Reads and changes a job's state on disk, for tests.
import { JobStore } from "../job/persistence/job-store.ts";
import type { JobState } from "../job/state/job-state.ts";

export const loadState = (storage: DurableObjectStorage): JobState | null => new JobStore(storage).load();

/** Changes the state, if there is one. The object must be evicted after it, since it has the state in memory, too. */
export function rewriteState(storage: DurableObjectStorage, change: (state: JobState) => JobState): void {
  const store = new JobStore(storage);
  const state = store.load();
  if (state) store.save(change(state));
}
