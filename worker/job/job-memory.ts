// One job's state in its object: what is in memory, and how far the disk is behind it.
import { AppError } from "#shared/errors.ts";
import type { JobState } from "./job-state.ts";
import { loadState, saveState } from "./job-store.ts";

/** Lossy progress is saved when a lease on disk has less than this left to live. */
const SAVE_LEASE_BELOW_MS = 30_000;

export class JobMemory {
  readonly #storage: DurableObjectStorage;
  #state: JobState | null;
  #saved: JobState | null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#state = loadState(storage);
    this.#saved = this.#state;
  }

  /** Null when there is no such job, or no longer. */
  get state(): JobState | null {
    return this.#state;
  }

  /** The state of a job that is known to be. Throws AppError(job_not_found). */
  live(): JobState {
    if (!this.#state) throw new AppError("job_not_found", "There is no such job");
    return this.#state;
  }

  save(state: JobState): void {
    saveState(this.#storage, this.#saved, state);
    this.#state = state;
    this.#saved = state;
  }

  /** Takes lossy progress; answers whether it must reach the disk: a status changed, or a lease there runs out soon. */
  note(state: JobState, now: number): boolean {
    const saved = this.#saved;
    this.#state = state;
    if (state.input !== saved?.input) return true;
    if (state.outputs.some(({ phase }, index) => phase !== saved.outputs[index]?.phase)) return true;
    const soon = now + SAVE_LEASE_BELOW_MS;
    return saved.tasks.some(({ phase, grant }) => phase === "leased" && (grant?.expiresAt ?? 0) < soon);
  }

  /** Forgets the job, its alarm included. */
  async forget(): Promise<void> {
    await this.#storage.deleteAll();
    this.#state = null;
    this.#saved = null;
  }
}
