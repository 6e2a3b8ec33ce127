// One job's state in its object: what is in memory, and how far the disk is behind it.
import { AppError } from "#shared/errors.ts";
import type { JobView } from "#shared/job-view.ts";
import type { JobState } from "./job-state.ts";
import { loadState, saveState } from "./job-store.ts";
import { jobPercent, viewJob } from "./job-view.ts";

/** Lossy progress is saved when a lease on disk has less than this left to live. */
const SAVE_LEASE_BELOW_MS = 30_000;

export class JobMemory {
  readonly #storage: DurableObjectStorage;
  readonly #changed: () => void;
  #state: JobState | null;
  #saved: JobState | null;

  /** `changed` is called after each change of the state. */
  constructor(storage: DurableObjectStorage, changed: () => void) {
    this.#storage = storage;
    this.#changed = changed;
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
    this.#saved = state;
    this.#set(state);
  }

  /** Takes lossy progress; answers whether it must reach the disk: a status changed, or a lease there runs out soon. */
  note(state: JobState, now: number): boolean {
    const saved = this.#saved;
    this.#set(state);
    if (state.input !== saved?.input) return true;
    if (state.outputs.some(({ phase }, index) => phase !== saved.outputs[index]?.phase)) return true;
    const soon = now + SAVE_LEASE_BELOW_MS;
    return saved.tasks.some(({ phase, grant }) => phase === "leased" && (grant?.expiresAt ?? 0) < soon);
  }

  /**
   * The job as its client sees it; null when it is not kept. The percentage is remembered, so that progress never goes
   * back: on disk too for an answer that stands by itself, in memory only for one of many.
   */
  show(remember: "on disk" | "in memory"): JobView | null {
    if (!this.#state) return null;
    const shownPercent = jobPercent(this.#state);
    if (shownPercent > this.#state.shownPercent) this.#state = { ...this.#state, shownPercent };
    if (remember === "on disk" && shownPercent > (this.#saved?.shownPercent ?? 0)) this.save(this.#state);
    return viewJob(this.#state);
  }

  /** Forgets the job, its alarm included. */
  async forget(): Promise<void> {
    await this.#storage.deleteAll();
    this.#saved = null;
    this.#set(null);
  }

  #set(state: JobState | null): void {
    this.#state = state;
    this.#changed();
  }
}
