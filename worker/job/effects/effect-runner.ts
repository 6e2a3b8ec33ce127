// Runs a job's effects when they are due, and sets the alarm for the next effects.
import { isTerminalJob } from "#shared/job/job-status.ts";
import { messageOf } from "#shared/log.ts";
import { traceFields } from "#shared/network/trace-context.ts";
import type { Env } from "../../bindings.ts";
import { log } from "../../log.ts";
import { settingsOf } from "../../settings.ts";
import { startSpeculations } from "../chunks/speculative-attempts.ts";
import { expireLeases } from "../decide/lost-leases.ts";
import { endOverdue } from "../decide/time-limits.ts";
import type { JobMemory } from "../persistence/job-memory.ts";
import type { PendingEffect } from "./effect.ts";
import {
  affordable,
  CHECK_AFTER_MS,
  effectDone,
  effectFailed,
  nextAlarmAt,
  nextCheckAt,
  pendingEffects,
  requestsOf,
} from "./job-effects.ts";
import { runEffect } from "./run-effect.ts";

/** Time after which the alarm starts the effects again if the object dies while it runs them. */
const RESTART_MS = 30_000;
/** An alarm that rings so much too early is moved. */
const FAR_MS = 60 * 60_000;

export class EffectRunner {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #memory: JobMemory;
  readonly #running = new Set<string>();
  #armedAt: number | null = null;
  #retentionMs: number | null = null;

  constructor(ctx: DurableObjectState, env: Env, memory: JobMemory) {
    this.#ctx = ctx;
    this.#env = env;
    this.#memory = memory;
    // After an eviction the alarm is still set, and setting it again would cost a row. If this fails, it is set again.
    if (!memory.isUnreadable && !memory.state) return;
    void ctx.blockConcurrencyWhile(async () => {
      this.#armedAt = await ctx.storage.getAlarm().catch(() => null);
    });
  }

  /**
   * Starts the due effects without waiting for them. Call it in the same turn as a save: then the alarm becomes durable
   * together with the state, and restarts the effects if the object dies.
   */
  start(): void {
    this.#setNextAlarm(Date.now() + RESTART_MS);
    this.#ctx.waitUntil(this.#runDue(isPrompt).then(() => this.#settle()));
  }

  /** Sets the next alarm. Writes the ends of effects that an evicted object must not repeat much later. */
  #settle(): void {
    const memory = this.#memory;
    if (!memory.isUnreadable && memory.state) memory.flushEffects(isTerminalJob(memory.state.status));
    this.#setNextAlarm(0);
  }

  /** Sets the alarm again if it is missing or long overdue. */
  async restoreAlarm(): Promise<void> {
    this.#armedAt = await this.#ctx.storage.getAlarm();
    this.#setNextAlarm(0);
  }

  /** Time of the sweeper's next check of the job. */
  nextCheckAt(): number {
    const now = Date.now();
    const state = this.#memory.isUnreadable ? null : this.#memory.state;
    return state ? nextCheckAt(state, now, this.#retention()) : now + CHECK_AFTER_MS;
  }

  /**
   * Handles the alarm: expires leases and runs all effects. If the object dies meanwhile, the platform rings again.
   */
  async onAlarm(): Promise<void> {
    this.#armedAt = null;
    try {
      if (this.#memory.isUnreadable) return await this.#handleUnreadable();
      const { state } = this.#memory;
      const now = Date.now();
      if (!state) return await this.#endMetadata(now);
      const next = endOverdue(startSpeculations(expireLeases(state, now), now), now);
      if (next !== state) this.#memory.save(next);
      await this.#runDue(() => true);
      if (!this.#memory.state) return;
      // The object may be evicted before the next alarm: it must not repeat these effects then.
      this.#memory.flushEffects(true);
    } catch (error) {
      // Tried again, with a pause in case the error persists.
      this.#setAlarm(Date.now() + RESTART_MS);
      log.error("job alarm failed", { job: this.#ctx.id.name, error: messageOf(error) });
      return;
    }
    this.#setNextAlarm(0);
  }

  /** Handles an unreadable state, at long intervals, until it becomes readable or the job is ended. */
  async #handleUnreadable(): Promise<void> {
    const { waitMs, reason } = await this.#memory.handleUnreadable(Date.now(), this.#retention());
    if (reason !== null) log.error("job state not readable", { job: this.#ctx.id.name, reason, waitMs });
    if (waitMs !== null) this.#setAlarm(Date.now() + waitMs);
    else this.#setNextAlarm(0);
  }

  /** Deletes the metadata of a forgotten job when its time is over. */
  async #endMetadata(now: number): Promise<void> {
    const until = this.#memory.keptMetadata?.until ?? null;
    if (until !== null && until > now) this.#setAlarm(until);
    else if (until !== null) await this.#memory.forget();
  }

  #retention(): number {
    this.#retentionMs ??= settingsOf(this.#env).retentionMs;
    return this.#retentionMs;
  }

  /**
   * Runs due effects until there are no new effects. Effects that are due again at once wait for the alarm, and so do
   * effects that are too many for an invocation. Deliveries come last, because a receiver may take 15 s. They bring the
   * events of the job to its account.
   */
  async #runDue(wanted: (pending: PendingEffect) => boolean): Promise<void> {
    const done = new Set<string>();
    let sent = 0;
    for (;;) {
      const all = this.#due(done).filter(wanted);
      const deliveries = all.filter(({ effect }) => effect.kind === "deliver");
      const last = deliveries.length > 0 ? ["deliver", "emit"] : [];
      const first = all.filter(({ effect }) => !last.includes(effect.kind));
      const due = affordable(first.length > 0 ? first : deliveries, sent);
      if (due.length === 0) return;
      for (const pending of due) {
        done.add(pending.name);
        sent += requestsOf(pending);
      }
      await Promise.all(due.map((pending) => this.#run(pending)));
    }
  }

  /** The effects that are due, except running effects and `done` effects. */
  #due(done: ReadonlySet<string>): PendingEffect[] {
    const { state } = this.#memory;
    return (state ? pendingEffects(state, this.#retention()) : []).filter(
      ({ name, dueAt }) => dueAt <= Date.now() && !this.#running.has(name) && !done.has(name),
    );
  }

  async #run({ name, effect }: PendingEffect): Promise<void> {
    const memory = this.#memory;
    const jobLog = log.child({ job: this.#ctx.id.name, effect: name, ...traceFields(memory.state?.spec.trace) });
    this.#running.add(name);
    jobLog.debug("effect started");
    try {
      await runEffect(effect, {
        env: this.#env,
        state: () => memory.live(),
        apply: (change) => memory.save(change(memory.live())),
        note: (change) => memory.note(change(memory.live())),
        now: Date.now,
        purge: async (kept) => {
          await memory.forget(kept);
          if (kept) this.#setAlarm(kept.until);
        },
      });
      if (memory.state?.retries[name]) memory.save(effectDone(memory.state, name));
      jobLog.debug("effect ended");
    } catch (error) {
      jobLog.warn("effect failed", { error: messageOf(error) });
      if (memory.state) memory.save(effectFailed(memory.state, name, Date.now(), Math.random));
    } finally {
      this.#running.delete(name);
    }
  }

  /**
   * Sets the alarm for the next effect. Effects count from `startedAt` on, and running effects only in case they never
   * end. An alarm that rings too early does no harm: it is set again. Only an alarm that rings an hour too early is
   * moved, because it would cost a request and the same row.
   */
  #setNextAlarm(startedAt: number): void {
    const at = this.#dueAt(startedAt);
    const armedAt = this.#armedAt ?? Number.POSITIVE_INFINITY;
    // An alarm that is long overdue was lost.
    const rings = armedAt <= (at ?? 0) && armedAt > Date.now() - RESTART_MS && armedAt > (at ?? 0) - FAR_MS;
    if (at !== null && !rings) this.#setAlarm(at);
  }

  #dueAt(startedAt: number): number | null {
    if (this.#memory.isUnreadable) return Date.now();
    const { state } = this.#memory;
    const later = Date.now() + RESTART_MS;
    const isLate = (pending: PendingEffect): boolean => this.#running.has(pending.name) || !isPrompt(pending);
    const notBefore = (pending: PendingEffect): number => (isLate(pending) ? later : startedAt);
    return state && nextAlarmAt(state, notBefore, this.#retention());
  }

  #setAlarm(at: number): void {
    // An effect that is due at once has no due time, and the storage rejects 0.
    this.#armedAt = Math.max(at, Date.now());
    // Not awaited: the write joins the other writes of this turn, and a storage error resets the object anyway.
    void this.#ctx.storage.setAlarm(this.#armedAt);
  }
}

/** True if an effect starts at once. News that nobody waits for have time until the alarm. */
const isPrompt = ({ isNews = false }: PendingEffect): boolean => !isNews;
