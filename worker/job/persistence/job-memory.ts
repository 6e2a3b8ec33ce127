// The state of a job in its object: in memory, and as it was last written to disk.
import { AppError } from "#shared/errors.ts";
import type { JobView } from "#shared/job/job-view.ts";
import { messageOf } from "#shared/log.ts";
import { LEASE_MS } from "#shared/protocol/leases.ts";
import { endOthers } from "../state/attempt-log.ts";
import type { JobState } from "../state/job-state.ts";
import { endedLeaseMs } from "../state/used.ts";
import { jobPercent, viewJob } from "../views/job-view.ts";
import { JobStore, unpacked } from "./job-store.ts";
import type { KeptMetadata } from "./kept-metadata.ts";
import { judgeUnreadable, UnreadableState } from "./unreadable.ts";

/** The entry with the time since when the state cannot be read. */
const UNREADABLE_SINCE = "unreadable-since";
/** The only entry of a forgotten job. */
const KEPT_METADATA = "kept-metadata";
/** Reports that renew leases are written to disk only when a lease there expires sooner than this. */
const SAVE_LEASE_BELOW_MS = LEASE_MS / 2;

export class JobMemory {
  readonly #storage: DurableObjectStorage;
  readonly #store: JobStore;
  readonly #changed: () => void;
  #state: JobState | null = null;
  /** Reason why the stored state cannot be read. */
  #unreadable: string | null = null;

  /** `changed` is called after each change of the state. */
  constructor(storage: DurableObjectStorage, changed: () => void) {
    this.#storage = storage;
    this.#store = new JobStore(storage);
    this.#changed = changed;
    this.#load();
  }

  #load(): void {
    const storage = this.#storage;
    try {
      this.#state = this.#store.load();
      this.#unreadable = null;
      if (this.#state && storage.kv.get(UNREADABLE_SINCE) !== undefined) storage.kv.delete(UNREADABLE_SINCE);
    } catch (error) {
      // An error in the constructor would also fail the alarm, and the job would never end.
      this.#unreadable = messageOf(error);
    }
  }

  /** Null if there is no such job, or if it is no longer kept. Throws UnreadableState. */
  get state(): JobState | null {
    if (this.#unreadable !== null) throw new UnreadableState("The job's state cannot be read");
    return this.#state;
  }

  get isUnreadable(): boolean {
    return this.#unreadable !== null;
  }

  /**
   * Handles an unreadable state: waits, ends the job, or forgets it. Returns the time to wait; null if the state is
   * readable by now, or gone. Also returns the reason why it was unreadable; null if it is readable by now.
   */
  async handleUnreadable(now: number, retentionMs: number): Promise<{ waitMs: number | null; reason: string | null }> {
    // Perhaps only the read has failed.
    this.#load();
    if (this.#unreadable === null) {
      this.#changed();
      return { waitMs: null, reason: null };
    }
    const { kv } = this.#storage;
    const reason = this.#unreadable;
    const since = kv.get<number>(UNREADABLE_SINCE) ?? now;
    const verdict = judgeUnreadable(unpacked(new Map(kv.list())), { since, now, retentionMs });
    if (verdict.do === "wait") {
      kv.put(UNREADABLE_SINCE, since);
      return { waitMs: verdict.ms, reason };
    }
    this.#unreadable = null;
    if (verdict.do === "forget") await this.forget();
    else {
      this.#store.clear();
      this.save(verdict.state);
    }
    return { waitMs: null, reason };
  }

  /** The state of an existing job. Throws AppError(job_not_found). */
  live(): JobState {
    const { state } = this;
    if (!state) throw new AppError("job_not_found", "There is no such job");
    return state;
  }

  save(state: JobState): void {
    const counted = this.#counted(state);
    this.#store.save(counted);
    this.#set(counted);
  }

  /** Takes a change that may be lost with the object: the next save writes it, too. */
  note(state: JobState): void {
    this.#set(this.#counted(state));
  }

  /** Adds the ends of the leases that a change ends, and their time. Counted here, because leases end in many ways. */
  #counted(changed: JobState): JobState {
    const now = Date.now();
    const ms = this.#state ? endedLeaseMs(this.#state.tasks, changed.tasks, now) : 0;
    const next = endOthers(this.#state, changed, now);
    return ms === 0 ? next : { ...next, used: { ...next.used, nodeMs: Math.max(0, next.used.nodeMs + ms) } };
  }

  /** True if reports on leases must be written to disk: an output's status changed, or a lease there expires soon. */
  mustSave(state: JobState, now: number): boolean {
    const { saved } = this.#store;
    if (state.outputs.some(({ phase }, index) => phase !== saved?.outputs[index]?.phase)) return true;
    const soon = now + SAVE_LEASE_BELOW_MS;
    return saved?.tasks.some(({ phase, lease }) => phase === "leased" && (lease?.expiresAt ?? 0) < soon) ?? true;
  }

  /** Writes noted changes if they include a delivery or, with `all`, the end of any effect. */
  flushEffects(all: boolean): void {
    const { saved } = this.#store;
    const state = this.#state;
    if (!state || !saved) return;
    const marks = ["outbox", "advertisedAt", "indexedVersion", "outputs", "orphans", "emitted"] as const;
    if (marks.slice(0, all ? marks.length : 1).some((mark) => saved[mark] !== state[mark])) this.save(state);
  }

  /**
   * The job as its client sees it; null when it is not kept. The percentage is noted, so that progress does not
   * decrease.
   */
  show(): JobView | null {
    const { state } = this;
    if (!state) return null;
    const shownPercent = jobPercent(state);
    if (shownPercent > state.shownPercent) this.#state = { ...state, shownPercent };
    return viewJob(this.#state ?? state);
  }

  /** Forgets the job, including its alarm, except its metadata. */
  async forget(kept: KeptMetadata | null = null): Promise<void> {
    await this.#store.forget();
    if (kept) this.#storage.kv.put(KEPT_METADATA, kept);
    this.#set(null);
  }

  /** The metadata of a forgotten job. */
  get keptMetadata(): KeptMetadata | null {
    return this.#storage.kv.get<KeptMetadata>(KEPT_METADATA) ?? null;
  }

  #set(state: JobState | null): void {
    this.#state = state;
    this.#changed();
  }
}
