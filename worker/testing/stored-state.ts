// Reads and changes a job's state on disk, for tests.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { JobStore } from "../job/persistence/job-store.ts";
import type { JobState } from "../job/state/job-state.ts";
import type { jobOf } from "../rpc/job.ts";

export const loadState = (storage: DurableObjectStorage): JobState | null => new JobStore(storage).load();

/**
 * Changes the state of a job on disk, if it has a state, as if time had passed. Drops the object from memory. A running
 * effect or an alarm may overwrite the state; it is then changed again.
 */
export async function rewriteState(
  job: ReturnType<typeof jobOf>,
  change: (state: JobState) => JobState,
): Promise<void> {
  for (let written: string | null = null; ; ) {
    // Evicts the object, so that earlier effects cannot write anymore. There may be nothing to evict.
    await evictDurableObject(job).catch(() => {});
    const stored = await runInDurableObject(job, (_, { storage }) => JSON.stringify(loadState(storage)));
    if (stored === written) return;
    written = await runInDurableObject(job, (_, { storage }) => {
      const state = loadState(storage);
      if (state) new JobStore(storage).save(change(state));
      return JSON.stringify(loadState(storage));
    });
  }
}
