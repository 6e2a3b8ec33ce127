// The object of an account: data that its jobs share, so that it is not read from the database for each job.
import { DurableObject } from "cloudflare:workers";
import type { Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../bindings.ts";
import { countUnfinished, findAccount } from "../db/accounts.ts";
import { lastEventIdOf, refuse } from "../events/socket-stream.ts";
import { log } from "../log.ts";
import { webhookSecretsOf } from "../notify/webhook-secrets.ts";
import type { AccountEvent, AccountRpc, Admission, StartedJobs } from "../rpc/account.ts";
import { AccountEvents } from "./account-events.ts";
import { Messages } from "./messages.ts";
import { Receivers } from "./receivers.ts";
import { RunningProbes } from "./running-probes.ts";

/** The route that rotates a secret calls `forgetSecrets`; this limit applies when that call is lost. */
const KEEP_SECRETS_MS = 60_000;

const UNREAD = { signWith: null, readAfter: 0 };

const TOO_MANY_LISTENERS: Failure = {
  code: "rate_limited",
  message: "Too many event streams of this account are open already",
};

export class AccountObject extends DurableObject<Env> implements AccountRpc {
  readonly #receivers: Receivers;
  readonly #events: AccountEvents;
  readonly #messages: Messages;
  readonly #followed = new FollowedJobs();
  readonly #probes: RunningProbes;
  #count: JobCount | null = null;
  /** The times of the jobs that were admitted last: their rows may not be stored yet. */
  #startedAt: number[] = [];
  #counting: Promise<void> | null = null;
  /** The secrets that sign deliveries; null if they could not be read. They are not read again before `readAfter`. */
  #secrets: { readonly signWith: readonly string[] | null; readonly readAfter: number } = UNREAD;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#receivers = new Receivers(ctx.storage.kv);
    this.#events = new AccountEvents(ctx, env);
    this.#probes = new RunningProbes(ctx.storage.kv);
    this.#messages = new Messages(ctx.storage.kv, env, this);
  }

  get #id(): string {
    return this.ctx.id.name?.replace(/^account:/, "") ?? "";
  }

  async startJobs(limit: number, count: number): Promise<StartedJobs> {
    let started = 0;
    while (started < count && (await this.#startJob(limit))) started += 1;
    return { started, isListened: this.#events.areListened };
  }

  async startProbe(id: string, limit: number): Promise<number> {
    return (await this.#start(limit, () => this.#probes.started(id, Date.now()))) ? 1 : 0;
  }

  async probeEnded(id: string): Promise<void> {
    this.#probes.ended(id);
  }

  #startJob(limit: number): Promise<boolean> {
    return this.#start(limit, () => {
      if (this.#count) this.#count = { ...this.#count, started: this.#count.started + 1 };
      this.#startedAt.push(Date.now());
    });
  }

  /** Starts a job or probe in the step that finds room for it: other requests wait for the same count. */
  async #start(limit: number, start: () => void): Promise<boolean> {
    const verdict = () => judgeJob(this.#count, limit - this.#probes.count(Date.now()), Date.now());
    if (verdict() === "count") await this.#recount(limit);
    if (verdict() === "reject") return false;
    start();
    return true;
  }

  async admitDelivery(receiver: string, events: readonly AccountEvent[] = []): Promise<Admission> {
    if (events.length > 0) await this.record(events);
    const admitted = this.#receivers.admit(receiver, Date.now());
    return admitted.go ? { go: true, signWith: await this.#signWith() } : admitted;
  }

  async deliveryEnded(receiver: string, wasDelivered: boolean): Promise<void> {
    this.#receivers.ended(receiver, wasDelivered, Date.now());
  }

  async record(events: readonly AccountEvent[]): Promise<void> {
    this.#events.record(events);
    await this.#setAlarm();
  }

  async sendLater(message: { id: string; body: string }, url: string): Promise<void> {
    await this.#messages.add(message, url);
    await this.#setAlarm();
  }

  /** Server-sent events of the account's jobs. */
  override fetch(request: Request): Response {
    return this.#events.listen(lastEventIdOf(request)) ?? refuse(TOO_MANY_LISTENERS);
  }

  override webSocketMessage(socket: WebSocket): void {
    this.#events.listeners.read(socket);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#events.listeners.left(socket);
  }

  override webSocketError(socket: WebSocket): void {
    this.#events.listeners.left(socket);
  }

  async follow(jobId: string, streams: number): Promise<boolean> {
    return this.#followed.note(jobId, streams, Date.now());
  }

  override async alarm(): Promise<void> {
    this.#events.forgetOld();
    await this.#messages.sendDue(Date.now());
    await this.#setAlarm();
  }

  /** Sets the alarm, unless it is set for this time or an earlier time. */
  async #setAlarm(): Promise<void> {
    const { storage } = this.ctx;
    const at = Math.min(this.#events.dueAt, this.#messages.dueAt);
    if (at < ((await storage.getAlarm()) ?? Number.POSITIVE_INFINITY)) await storage.setAlarm(at);
  }

  async forgetSecrets(): Promise<void> {
    this.#secrets = UNREAD;
  }

  /** Concurrent calls share a count. While the database is unavailable, every job is admitted. */
  #recount(limit: number): Promise<void> {
    const count = async (): Promise<void> => {
      const at = Date.now();
      try {
        const counted = await countUnfinished(this.env.DB, this.#id, limit);
        this.#startedAt = this.#startedAt.filter((time) => time > at - STORED_AFTER_MS);
        this.#count = { counted, at, started: this.#startedAt.length };
      } catch (error) {
        log.warn("unfinished jobs not counted", { account: this.#id, error: messageOf(error) });
        this.#count = null;
      }
    };
    this.#counting ??= count().finally(() => {
      this.#counting = null;
    });
    return this.#counting;
  }

  /** The secrets that sign deliveries. Null if they cannot be read: then the job's own secret is used. */
  async #signWith(): Promise<readonly string[] | null> {
    const now = Date.now();
    if (now >= this.#secrets.readAfter) {
      this.#secrets = { signWith: await this.#readSecrets(now), readAfter: now + KEEP_SECRETS_MS };
    }
    return this.#secrets.signWith;
  }

  async #readSecrets(now: number): Promise<readonly string[] | null> {
    try {
      const account = await findAccount(this.env.DB, this.#id);
      return account && (await webhookSecretsOf(this.env, account, now));
    } catch (error) {
      log.warn("webhook secrets not readable", { account: this.#id, error: messageOf(error) });
      return this.#secrets.signWith;
    }
  }
}

// Event streams that follow an account's jobs, as the jobs reported them.

/** Maximum number of streams that follow the jobs of an account: ten times the maximum of a job. */
const MAX_STREAMS = 200;
/** A stream is closed after ten minutes: a job that reports nothing for longer has no streams. */
const LIFE_MS = 11 * 60_000;

type FollowedJob = { readonly streams: number; readonly until: number };

class FollowedJobs {
  readonly #jobs = new Map<string, FollowedJob>();

  /**
   * Notes the number of a job's streams. Returns false, and notes nothing, if it has grown and the account has too
   * many.
   */
  note(jobId: string, streams: number, now: number): boolean {
    const before = this.#jobs.get(jobId)?.streams ?? 0;
    let others = 0;
    for (const [id, job] of this.#jobs) {
      if (job.until <= now) this.#jobs.delete(id);
      else if (id !== jobId) others += job.streams;
    }
    if (streams > before && others + streams > MAX_STREAMS) return false;
    if (streams > 0) this.#jobs.set(jobId, { streams, until: now + LIFE_MS });
    else this.#jobs.delete(jobId);
    return true;
  }
}

// The number of an account's unfinished jobs, without reading the index each time: a count is reused, and jobs that
// started since are added. Jobs that ended since are not subtracted, so that the number is rarely too low.

/** `counted`: unfinished jobs at the time `at` (ms since 1970). `started`: jobs since then. */
type JobCount = { readonly counted: number; readonly at: number; readonly started: number };

const KEEP_MS = 60_000;
/** Time in which a job's row is stored. Younger jobs are added to a count, and some of them count twice. */
const STORED_AFTER_MS = 10_000;
/** Lifetime of a count at the limit: jobs may have ended since. */
const KEEP_AT_LIMIT_MS = 5000;

/** Admits or rejects another job; `count`: the jobs must be counted first. */
export function judgeJob(count: JobCount | null, limit: number, now: number): "admit" | "reject" | "count" {
  if (!count || now - count.at > KEEP_MS) return "count";
  if (count.counted + count.started < limit) return "admit";
  return now - count.at > KEEP_AT_LIMIT_MS ? "count" : "reject";
}
