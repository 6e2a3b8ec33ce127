// Carries out what a job owes, when it is due, and keeps the alarm set for what is due later.
import { messageOf } from "#shared/log.ts";
import { type Env, log, settingsOf } from "../../env.ts";
import { offerTwins } from "../chunks/speculative-attempts.ts";
import { expireLeases } from "../decide/leases.ts";
import type { JobMemory } from "../state/job-memory.ts";
import {
  CHECK_AFTER_MS,
  effectDone,
  effectFailed,
  nextAlarmAt,
  nextCheckAt,
  type PendingEffect,
  pendingEffects,
} from "./job-effects.ts";
import { runEffect } from "./run-effect.ts";

/** If the object dies amid its work, the alarm has it begin again after this long. */
const DEAD_MAN_MS = 30_000;

export class EffectRunner {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #memory: JobMemory;
  readonly #underWay = new Set<string>();
  #armedAt: number | null = null;
  #retentionMs: number | null = null;

  constructor(ctx: DurableObjectState, env: Env, memory: JobMemory) {
    this.#ctx = ctx;
    this.#env = env;
    this.#memory = memory;
  }

  /**
   * Begins what is due without keeping the caller waiting. Called in the turn of a save, so that the alarm that would
   * catch a death amid the work becomes durable together with the state.
   */
  start(): void {
    this.#arm(Date.now() + DEAD_MAN_MS);
    this.#ctx.waitUntil(this.#act(isPrompt).then(() => this.#arm(0)));
  }

  /** Sets the alarm anew if it is missing or long overdue; what is due then is the alarm's work. */
  async revive(): Promise<void> {
    this.#armedAt = await this.#ctx.storage.getAlarm();
    this.#arm(0);
  }

  /** When the sweeper is to ask after the job again. */
  nextCheckAt(): number {
    const now = Date.now();
    const state = this.#memory.isUnreadable ? null : this.#memory.state;
    return state ? nextCheckAt(state, now, this.#retention()) : now + CHECK_AFTER_MS;
  }

  /** The alarm's work: leases that ran out, and all effects, notifications too: the time they take is the alarm's. */
  async ring(): Promise<void> {
    this.#setAlarm(Date.now() + DEAD_MAN_MS);
    try {
      if (this.#memory.isUnreadable) return await this.#tend();
      const { state } = this.#memory;
      const now = Date.now();
      if (state) this.#memory.save(offerTwins(expireLeases(state, now), now));
      await this.#act(() => true);
    } catch (error) {
      // The alarm that was just set tries again, at a pace that a lasting fault can keep up with.
      log.error("Alarm failed", { job: this.#ctx.id.name, error: messageOf(error) });
      return;
    }
    this.#armedAt = null;
    this.#arm(0);
  }

  /** A state that cannot be read is looked after at a slow pace, until it can or the job is ended. */
  async #tend(): Promise<void> {
    const { waitMs, reason } = await this.#memory.tend(Date.now(), this.#retention());
    if (reason !== null) log.error("The job's state cannot be read", { job: this.#ctx.id.name, reason, waitMs });
    if (waitMs !== null) this.#setAlarm(Date.now() + waitMs);
    else this.#arm(0);
  }

  #retention(): number {
    this.#retentionMs ??= settingsOf(this.#env).retentionMs;
    return this.#retentionMs;
  }

  /** Carries out what is due until nothing new is; an effect that is due again at once waits for the alarm. */
  async #act(wanted: (pending: PendingEffect) => boolean): Promise<void> {
    const done = new Set<string>();
    for (;;) {
      const { state } = this.#memory;
      const due = (state ? pendingEffects(state, this.#retention()) : []).filter(
        (pending) =>
          pending.dueAt <= Date.now() &&
          !this.#underWay.has(pending.name) &&
          !done.has(pending.name) &&
          wanted(pending),
      );
      if (due.length === 0) return;
      for (const { name } of due) done.add(name);
      await Promise.all(due.map((pending) => this.#run(pending)));
    }
  }

  async #run({ name, effect }: PendingEffect): Promise<void> {
    const memory = this.#memory;
    this.#underWay.add(name);
    try {
      await runEffect(effect, {
        env: this.#env,
        state: () => memory.live(),
        apply: (change) => memory.save(change(memory.live())),
        now: Date.now,
        purge: () => memory.forget(),
      });
      if (memory.state) memory.save(effectDone(memory.state, name));
    } catch (error) {
      log.warn("Effect failed", { job: this.#ctx.id.name, effect: name, error: messageOf(error) });
      if (memory.state) memory.save(effectFailed(memory.state, name, Date.now(), Math.random));
    } finally {
      this.#underWay.delete(name);
    }
  }

  /**
   * Sets the alarm for what is due next; for prompt effects no sooner than `promptAt`, and for those under way only in
   * case they never end. An alarm that rings too early does no harm: it looks, and sets itself anew.
   */
  #arm(promptAt: number): void {
    const at = this.#dueAt(promptAt);
    // An alarm that is overdue by far was lost, and is set anew.
    const rings = this.#armedAt !== null && this.#armedAt <= (at ?? 0) && this.#armedAt > Date.now() - DEAD_MAN_MS;
    if (at !== null && !rings) this.#setAlarm(at);
  }

  #dueAt(promptAt: number): number | null {
    if (this.#memory.isUnreadable) return Date.now();
    const { state } = this.#memory;
    return state && nextAlarmAt(state, (pending) => this.#notBefore(pending, promptAt), this.#retention());
  }

  #setAlarm(at: number): void {
    // What is due at once has no time of its own, and 0 is refused.
    this.#armedAt = Math.max(at, Date.now());
    // Not awaited: the write joins those of this turn, and a failure of the storage resets the object anyway.
    void this.#ctx.storage.setAlarm(this.#armedAt);
  }

  #notBefore(pending: PendingEffect, promptAt: number): number {
    if (this.#underWay.has(pending.name)) return Date.now() + DEAD_MAN_MS;
    return isPrompt(pending) ? promptAt : 0;
  }
}

/** Whether an effect is begun at once; notifications wait for the alarm. */
const isPrompt = ({ effect }: PendingEffect): boolean => effect.kind !== "deliver";
