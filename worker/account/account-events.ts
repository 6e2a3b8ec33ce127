// The newest events of an account's jobs, for listeners. They are kept even if nobody listens.
import * as z from "zod";
import type { Env } from "../bindings.ts";
import { EventSockets } from "../events/event-sockets.ts";
import type { AccountEvent } from "../rpc/account.ts";
import { settingsOf } from "../settings.ts";
import { EventRing } from "./event-ring.ts";
import { type Listener, newListener, nextWrite } from "./event-text.ts";

/** Maximum number of open streams. */
const MAX_LISTENERS = 20;
/** Events within this time of the oldest event are removed with it: each removal costs an alarm. */
const TOGETHER_MS = 2 * 60 * 60_000;

/** Time in which a listener returns after its stream has ended. */
const RETURNS_MS = 60_000;

/** Key of the id after which events are kept: the newest event that expired, or the start of all events. */
const FLOOR = "events-floor";

export class AccountEvents {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #listeners: EventSockets<Listener>;
  #known: EventRing | null = null;
  #listenedAt = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    this.#listeners = new EventSockets<Listener>(ctx, {
      next: (listener) => nextWrite(listener, this.#ring()),
      restore: ({ id }) => ({ id, isNew: false }),
    });
  }

  get listeners(): Pick<EventSockets<Listener>, "read" | "left"> {
    return this.#listeners;
  }

  /**
   * Listens from the event after `lastEventId` on (null: from now on). Returns null if there are too many listeners.
   */
  listen(lastEventId: string | null): Response | null {
    if (this.#listeners.size >= MAX_LISTENERS) return null;
    const { kv } = this.#ctx.storage;
    const ring = this.#ring();
    if (kv.get(FLOOR) === undefined) kv.put(FLOOR, ring.floor);
    return this.#listeners.open(newListener(lastEventId, ring));
  }

  /** True while somebody listens. A stream closes after ten minutes, and its listener returns soon. */
  get areListened(): boolean {
    if (this.#listeners.size > 0) this.#listenedAt = Date.now();
    return Date.now() < this.#listenedAt + RETURNS_MS;
  }

  /** Adds events, in order. */
  record(events: readonly AccountEvent[]): void {
    this.#ring().add(events, Date.now());
    this.#listeners.wake();
  }

  /** When the oldest event is removed; infinite without events. */
  get dueAt(): number {
    const { oldest } = this.#ring();
    return oldest === null ? Number.POSITIVE_INFINITY : oldest + settingsOf(this.#env).retentionMs;
  }

  /** Removes old events: they contain the bodies of notifications, which are kept no longer than RETENTION_DAYS. */
  forgetOld(): void {
    const ring = this.#ring();
    ring.forget(Date.now() - settingsOf(this.#env).retentionMs + TOGETHER_MS);
    // While there are events, the oldest event has the floor. Without an earlier listener, nobody knows an id.
    const { kv } = this.#ctx.storage;
    if (ring.oldest === null && kv.get(FLOOR) !== undefined) kv.put(FLOOR, ring.floor);
  }

  #ring(): EventRing {
    this.#known ??= new EventRing(this.#ctx.storage.kv, this.#floor());
    return this.#known;
  }

  #floor(): number {
    return z.number().catch(Date.now).parse(this.#ctx.storage.kv.get(FLOOR));
  }
}
