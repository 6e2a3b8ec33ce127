// Carries out what a job owes, when it is due, and keeps the alarm set for what is due later.
import { messageOf } from "#shared/log.ts";
import { type Env, log } from "../env.ts";
import { effectDone, effectFailed, nextAlarmAt, type PendingEffect, pendingEffects } from "./job-effects.ts";
import type { JobMemory } from "./job-memory.ts";
import { expireLeases } from "./leases.ts";
import { runEffect } from "./run-effect.ts";
import { offerTwins } from "./twins.ts";

/** If the object dies amid its work, the alarm has it begin again after this long. */
const DEAD_MAN_MS = 30_000;

export class EffectRunner {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #memory: JobMemory;
  readonly #underWay = new Set<string>();
  #armedAt: number | null = null;

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

  /** The alarm's work: leases that ran out, and all effects, notifications too: the time they take is the alarm's. */
  async ring(): Promise<void> {
    this.#setAlarm(Date.now() + DEAD_MAN_MS);
    try {
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

  /** Carries out what is due until nothing new is; an effect that is due again at once waits for the alarm. */
  async #act(wanted: (pending: PendingEffect) => boolean): Promise<void> {
    const done = new Set<string>();
    for (;;) {
      const { state } = this.#memory;
      const due = (state ? pendingEffects(state) : []).filter(
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
    const { state } = this.#memory;
    const at = state && nextAlarmAt(state, (pending) => this.#notBefore(pending, promptAt));
    // An alarm that is overdue by far was lost, and is set anew.
    const rings = this.#armedAt !== null && this.#armedAt <= (at ?? 0) && this.#armedAt > Date.now() - DEAD_MAN_MS;
    if (at !== null && !rings) this.#setAlarm(at);
  }

  #setAlarm(at: number): void {
    this.#armedAt = at;
    // Not awaited: the write joins those of this turn, and a failure of the storage resets the object anyway.
    void this.#ctx.storage.setAlarm(at);
  }

  #notBefore(pending: PendingEffect, promptAt: number): number {
    if (this.#underWay.has(pending.name)) return Date.now() + DEAD_MAN_MS;
    return isPrompt(pending) ? promptAt : 0;
  }
}

/** Whether an effect is begun at once; notifications wait for the alarm. */
const isPrompt = ({ effect }: PendingEffect): boolean => effect.kind !== "deliver";
