// The state of one job in its object: in memory, and as it was last written to disk.
import { AppError } from "#shared/errors.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { messageOf } from "#shared/log.ts";
import type { JobState } from "../state/job-state.ts";
import { jobPercent, viewJob } from "../views/job-view.ts";
import { loadState, saveState } from "./job-store.ts";
import { judgeUnreadable, UnreadableState } from "./unreadable.ts";

/** The entry with the time since when the state cannot be read. */
const UNREADABLE_SINCE = "unreadable-since";
/** Progress is written to disk only when a lease there expires sooner than this. */
const SAVE_LEASE_BELOW_MS = 30_000;

export class JobMemory {
  readonly #storage: DurableObjectStorage;
  readonly #changed: () => void;
  #state: JobState | null = null;
  #saved: JobState | null = null;
  /** Why the stored state cannot be read. */
  #unreadable: string | null = null;

  /** `changed` is called after each change of the state. */
  constructor(storage: DurableObjectStorage, changed: () => void) {
    this.#storage = storage;
    this.#changed = changed;
    this.#load();
  }

  #load(): void {
    const storage = this.#storage;
    try {
      this.#state = loadState(storage);
      this.#saved = this.#state;
      this.#unreadable = null;
      if (this.#state && storage.kv.get(UNREADABLE_SINCE) !== undefined) storage.kv.delete(UNREADABLE_SINCE);
    } catch (error) {
      // Thrown from the constructor, it would also fail the alarm, and the job would never end.
      this.#unreadable = messageOf(error);
    }
  }

  /** Null when there is no such job, or it is no longer kept. Throws UnreadableState. */
  get state(): JobState | null {
    if (this.#unreadable !== null) throw new UnreadableState("The job's state cannot be read");
    return this.#state;
  }

  get isUnreadable(): boolean {
    return this.#unreadable !== null;
  }

  /**
   * Handles a state that could not be read: waits, ends the job, or forgets it. Returns how long to wait, null when the
   * state can be read by now or is gone; and why it could not be read, null when it can be by now.
   */
  async tend(now: number, retentionMs: number): Promise<{ waitMs: number | null; reason: string | null }> {
    // It may have been the read that failed.
    this.#load();
    if (this.#unreadable === null) {
      this.#changed();
      return { waitMs: null, reason: null };
    }
    const { kv } = this.#storage;
    const reason = this.#unreadable;
    const since = kv.get<number>(UNREADABLE_SINCE) ?? now;
    const verdict = judgeUnreadable(new Map(kv.list()), { since, now, retentionMs });
    if (verdict.do === "wait") {
      kv.put(UNREADABLE_SINCE, since);
      return { waitMs: verdict.ms, reason };
    }
    this.#unreadable = null;
    if (verdict.do === "forget") await this.forget();
    else {
      for (const [key] of [...kv.list()]) kv.delete(key);
      this.save(verdict.state);
    }
    return { waitMs: null, reason };
  }

  /** The state of a job that exists. Throws AppError(job_not_found). */
  live(): JobState {
    const { state } = this;
    if (!state) throw new AppError("job_not_found", "There is no such job");
    return state;
  }

  save(state: JobState): void {
    saveState(this.#storage, this.#saved, state);
    this.#saved = state;
    this.#set(state);
  }

  /** Takes progress; returns whether it must be written to disk: a status changed, or a lease there expires soon. */
  note(state: JobState, now: number): boolean {
    const saved = this.#saved;
    this.#set(state);
    if (state.input !== saved?.input) return true;
    if (state.outputs.some(({ phase }, index) => phase !== saved.outputs[index]?.phase)) return true;
    const soon = now + SAVE_LEASE_BELOW_MS;
    return saved.tasks.some(({ phase, lease }) => phase === "leased" && (lease?.expiresAt ?? 0) < soon);
  }

  /**
   * The job as its client sees it; null when it is not kept. The percentage is remembered, so that progress never
   * decreases: on disk for a single response, only in memory for an event stream.
   */
  show(remember: "on disk" | "in memory"): JobView | null {
    let { state } = this;
    if (!state) return null;
    const shownPercent = jobPercent(state);
    if (shownPercent > state.shownPercent) state = { ...state, shownPercent };
    this.#state = state;
    if (remember === "on disk" && shownPercent > (this.#saved?.shownPercent ?? 0)) this.save(state);
    return viewJob(state);
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
