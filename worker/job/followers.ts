// Followers of a job: while a job has followers, its nodes report often, and the hub sends their progress on at once.
import { messageOf } from "#shared/log.ts";
import { traceFields } from "#shared/network/trace-context.ts";
import type { Env } from "../bindings.ts";
import { withDeadline } from "../deadline.ts";
import { log } from "../log.ts";
import { accountOf } from "../rpc/account.ts";
import { hubOf } from "../rpc/hub.ts";
import type { Place } from "../rpc/hub-reports.ts";
import type { SeenProgress } from "../rpc/turn.ts";
import { leaseIdOf } from "./state/job-moves.ts";
import type { JobState } from "./state/job-state.ts";
import { isQueued } from "./state/work-state.ts";

/** The hub sends progress at once for this long after it last heard of a stream. Each turn prolongs it. */
const FOLLOWED_MS = 60_000;
/** Single requests see progress that is at most this old, if the hub has newer progress. */
const FRESH_MS = 10_000;
/** A response waits at most this long for newer progress. */
const REFRESH_LIMIT_MS = 1000;

export class Followers {
  readonly #env: Env;
  readonly #streams: () => number;
  #refreshedAt = 0;
  #placedAt = 0;

  /** `streams` returns the number of event streams that follow the job. */
  constructor(env: Env, streams: () => number) {
    this.#env = env;
    this.#streams = streams;
  }

  /** Reports the streams to the account. Returns false if the account has too many; true while it is not reachable. */
  async count({ spec }: JobState): Promise<boolean> {
    try {
      return await withDeadline("follow", accountOf(this.#env, spec.accountId).follow(spec.id, this.#streams()));
    } catch (error) {
      log.warn("event streams not counted", { job: spec.id, error: messageOf(error), ...traceFields(spec.trace) });
      return true;
    }
  }

  /** Time until which the job counts as followed, ms since 1970; 0 if nobody follows it. */
  until(): number {
    return this.#streams() > 0 ? Date.now() + FOLLOWED_MS : 0;
  }

  /**
   * The place of a waiting job in the queue, for the estimate of its end. undefined: it does not wait, has no pace yet,
   * or was asked for a short time ago.
   */
  async place(state: JobState): Promise<Place | null | undefined> {
    const now = Date.now();
    const isNeeded = isQueued(state) && state.pace !== undefined && state.pace.leftMs !== null;
    if (!isNeeded || now < this.#placedAt + FRESH_MS) return undefined;
    this.#placedAt = now;
    const { id, settings } = state.spec;
    return withDeadline("place", hubOf(this.#env, settings.queue).place(id), REFRESH_LIMIT_MS).catch(() => undefined);
  }

  /** The newest progress that the hub knows, for a client that looks at the job now. */
  async latest(state: JobState): Promise<SeenProgress[]> {
    const now = Date.now();
    const leased = state.tasks.filter(({ phase, lease }) => phase === "leased" && lease);
    if (leased.length === 0 || (this.#streams() === 0 && now < this.#refreshedAt + FRESH_MS)) return [];
    this.#refreshedAt = now;
    const leases = leased.map((task) => leaseIdOf(state, task));
    const { id, settings, trace } = state.spec;
    try {
      return await withDeadline(
        "watch",
        hubOf(this.#env, settings.queue).watch(id, leases, this.until()),
        REFRESH_LIMIT_MS,
      );
    } catch (error) {
      log.warn("progress not refreshed", { job: id, error: messageOf(error), ...traceFields(trace) });
      return [];
    }
  }
}
