// The events of an account's jobs for those who listen. While nobody listens, jobs send none: they learn that somebody
// does from calls that they make anyway, and unfinished ones when the first listener comes.
import * as z from "zod";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../bindings.ts";
import { newestUnfinished } from "../db/accounts.ts";
import { log } from "../log.ts";
import type { AccountEvent } from "../rpc/account.ts";
import { withDeadline } from "../rpc/deadline.ts";
import { jobOf } from "../rpc/job.ts";
import { settingsOf } from "../settings.ts";
import { EventRing } from "./event-ring.ts";
import { EventStreams } from "./event-streams.ts";

const HOUR_MS = 60 * 60_000;
/** How long events are taken and kept after the last listener has left. */
const KEEP_MS = 24 * HOUR_MS;
/** How often that is prolonged while somebody listens: each time costs two rows. */
const PROLONG_EVERY_MS = HOUR_MS;
/** Unfinished jobs are informed again when what they know ends sooner than this. */
const INFORM_BELOW_MS = KEEP_MS / 2;
/** The number of unfinished jobs that are informed, the newest ones, and how many at a time. */
const MAX_INFORMED = 1000;
const CONCURRENT = 20;
const INFORM_ATTEMPTS = 3;

const NAME = "listening";
const Listening = z.object({
  /** Until when events are taken and kept, ms since 1970. */
  until: z.number(),
  /** The id after which all events are known. */
  startsAfter: z.number(),
  /** Until when unfinished jobs know that somebody listens. */
  informedUntil: z.number(),
});
type Listening = z.infer<typeof Listening>;

export class AccountEvents {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #streams: EventStreams;
  #listening: Listening | null;
  #ring: EventRing | null = null;
  #informing: Promise<void> | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx;
    this.#env = env;
    this.#streams = new EventStreams(() => this.#prolonged());
    this.#listening = Listening.safeParse(ctx.storage.kv.get(NAME)).data ?? null;
  }

  /** Until when somebody listens, or listened less than 24 hours ago; 0: nobody did. */
  get until(): number {
    const until = this.#listening?.until ?? 0;
    return until > Date.now() ? until : 0;
  }

  /** A stream from the event after `lastEventId` on (null: from now on); null if there are too many. */
  open(accountId: string, lastEventId: string | null): ReadableStream<Uint8Array> | null {
    if (this.#streams.isFull) return null;
    this.#prolonged();
    if ((this.#listening?.informedUntil ?? 0) < Date.now() + INFORM_BELOW_MS) {
      this.#informing ??= this.#inform(accountId).finally(() => {
        this.#informing = null;
      });
      this.#ctx.waitUntil(this.#informing);
    }
    return this.#streams.open(lastEventId);
  }

  /** Takes events if somebody listens; returns until when. */
  record(events: readonly AccountEvent[]): number {
    if (this.until === 0) return 0;
    this.#events().add(events, Date.now());
    this.#streams.wake();
    return this.until;
  }

  /** Removes all events when nobody has listened for 24 hours. */
  async ring(): Promise<void> {
    if (this.until > 0) return this.#ctx.storage.setAlarm(this.until);
    this.#forgetAll();
  }

  #forgetAll(): void {
    this.#listening = null;
    this.#ring = null;
    this.#ctx.storage.kv.delete(NAME);
    EventRing.clear(this.#ctx.storage.kv);
  }

  /** The ring, kept for another 24 hours. */
  #prolonged(): EventRing {
    const now = Date.now();
    if (this.until < now + KEEP_MS - PROLONG_EVERY_MS) {
      if (this.until === 0) this.#forgetAll();
      // Events have the bodies of notifications, which are kept no longer than that.
      this.#events().forget(now - settingsOf(this.#env).retentionMs);
      const informedUntil = this.#listening?.informedUntil ?? 0;
      this.#save({ until: now + KEEP_MS, startsAfter: this.#events().floor, informedUntil });
      void this.#ctx.storage.setAlarm(now + KEEP_MS);
    }
    return this.#events();
  }

  #events(): EventRing {
    this.#ring ??= new EventRing(this.#ctx.storage.kv, this.#listening?.startsAfter ?? Date.now());
    return this.#ring;
  }

  #save(listening: Listening): void {
    this.#listening = listening;
    this.#ctx.storage.kv.put(NAME, listening);
  }

  /**
   * Informs the unfinished jobs that somebody listens. One that cannot be reached learns it with its next delivery. If
   * this fails, the next listener begins it again: each connects again within ten minutes.
   */
  async #inform(accountId: string): Promise<void> {
    const until = this.until;
    try {
      const ids = await newestUnfinished(this.#env.DB, accountId, MAX_INFORMED);
      while (ids.length > 0) await Promise.all(ids.splice(0, CONCURRENT).map((id) => this.#informJob(id, until)));
      if (this.#listening) this.#save({ ...this.#listening, informedUntil: until });
    } catch (error) {
      log.warn("jobs not informed of a listener", { account: accountId, error: messageOf(error) });
    }
  }

  async #informJob(id: string, until: number): Promise<void> {
    for (let attempt = 1; attempt <= INFORM_ATTEMPTS; attempt++) {
      try {
        return await withDeadline("listen", jobOf(this.#env, id).listen(until));
      } catch (error) {
        log.warn("job not informed of a listener", { job: id, attempt, error: messageOf(error) });
      }
    }
  }
}
