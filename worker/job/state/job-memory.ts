// One job's state in its object: what is in memory, and how far the disk is behind it.
import { AppError } from "#shared/errors.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { messageOf } from "#shared/log.ts";
import { jobPercent, viewJob } from "../views/job-view.ts";
import type { JobState } from "./job-state.ts";
import { loadState, saveState } from "./job-store.ts";
import { judgeUnreadable, UnreadableState } from "./unreadable.ts";

/** The entry that says since when the state cannot be read. */
const UNREADABLE_SINCE = "unreadable-since";
/** Lossy progress is saved when a lease on disk has less than this left to live. */
const SAVE_LEASE_BELOW_MS = 30_000;

export class JobMemory {
  readonly #storage: DurableObjectStorage;
  readonly #changed: () => void;
  #state: JobState | null = null;
  #saved: JobState | null = null;
  /** Why the stored state cannot be read. */
  #fault: string | null = null;

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
      this.#fault = null;
      if (this.#state && storage.kv.get(UNREADABLE_SINCE) !== undefined) storage.kv.delete(UNREADABLE_SINCE);
    } catch (error) {
      // Thrown from the constructor it would take the alarm with it, and with that the job's end.
      this.#fault = messageOf(error);
    }
  }

  /** Null when there is no such job, or no longer. Throws UnreadableState. */
  get state(): JobState | null {
    if (this.#fault !== null) throw new UnreadableState("The job's state cannot be read");
    return this.#state;
  }

  get isUnreadable(): boolean {
    return this.#fault !== null;
  }

  /**
   * Looks after a state that could not be read: waits, ends the job, or forgets it. Answers when to look again, null when
   * it can be read by now or is gone; and why it could not be read, null when nothing had to be done.
   */
  async tend(now: number, retentionMs: number): Promise<{ waitMs: number | null; reason: string | null }> {
    // What failed may have been the reading.
    this.#load();
    if (this.#fault === null) {
      this.#changed();
      return { waitMs: null, reason: null };
    }
    const { kv } = this.#storage;
    const reason = this.#fault;
    const since = kv.get<number>(UNREADABLE_SINCE) ?? now;
    const verdict = judgeUnreadable(new Map(kv.list()), { since, now, retentionMs });
    if (verdict.do === "wait") {
      kv.put(UNREADABLE_SINCE, since);
      return { waitMs: verdict.ms, reason };
    }
    this.#fault = null;
    if (verdict.do === "forget") await this.forget();
    else {
      for (const [key] of [...kv.list()]) kv.delete(key);
      this.save(verdict.state);
    }
    return { waitMs: null, reason };
  }

  /** The state of a job that is known to be. Throws AppError(job_not_found). */
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
