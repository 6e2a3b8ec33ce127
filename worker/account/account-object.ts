// The object of one account: what its jobs share, so that it is not read from the database for each of them.
import { DurableObject } from "cloudflare:workers";
import type { Failure } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { Env } from "../bindings.ts";
import { unseal } from "../crypto/sealed-secret.ts";
import { countUnfinished, findAccount } from "../db/accounts.ts";
import { log } from "../log.ts";
import type { AccountEvent, AccountRpc, Admission, JobAdmission } from "../rpc/account.ts";
import { settingsOf } from "../settings.ts";
import { AccountEvents } from "./account-events.ts";
import { FollowedJobs } from "./followed-jobs.ts";
import { type JobCount, judgeJob } from "./job-count.ts";
import { Receivers } from "./receivers.ts";

/** The route that rotates a secret calls `forgetSecrets`; this limit applies when that call is lost. */
const KEEP_SECRETS_MS = 60_000;

const TOO_MANY_LISTENERS: Failure = {
  code: "rate_limited",
  message: "Too many event streams of this account are open already",
};

type Secrets = {
  readonly at: number;
  readonly current: string;
  readonly previous: { text: string; until: number } | null;
};

export class AccountObject extends DurableObject<Env> implements AccountRpc {
  readonly #receivers: Receivers;
  readonly #events: AccountEvents;
  readonly #followed = new FollowedJobs();
  #count: JobCount | null = null;
  #counting: Promise<void> | null = null;
  #secrets: Secrets | null = null;
  /** Until when the secrets are not read again after that failed. */
  #withoutSecretsUntil = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#receivers = new Receivers(ctx.storage.kv);
    this.#events = new AccountEvents(ctx, env);
  }

  get #id(): string {
    return this.ctx.id.name?.replace(/^account:/, "") ?? "";
  }

  async startJob(limit: number): Promise<JobAdmission> {
    return { isAdmitted: await this.admitJob(limit), listenedUntil: this.#events.until };
  }

  async admitJob(limit: number): Promise<boolean> {
    if (judgeJob(this.#count, limit, Date.now()) === "count") await this.#recount(limit);
    const verdict = judgeJob(this.#count, limit, Date.now());
    if (verdict === "reject") return false;
    if (this.#count) this.#count = { ...this.#count, started: this.#count.started + 1 };
    return true;
  }

  async admitDelivery(receiver: string): Promise<Admission> {
    const admitted = this.#receivers.admit(receiver, Date.now());
    const listenedUntil = this.#events.until;
    return { ...(admitted.go ? { go: true, signWith: await this.#signWith() } : admitted), listenedUntil };
  }

  async deliveryEnded(receiver: string, wasDelivered: boolean): Promise<void> {
    this.#receivers.ended(receiver, wasDelivered, Date.now());
  }

  async record(events: readonly AccountEvent[]): Promise<number> {
    return this.#events.record(events);
  }

  async events(lastEventId: string | null): Promise<Result<ReadableStream<Uint8Array>>> {
    const stream = this.#events.open(this.#id, lastEventId);
    return stream ? ok(stream) : err(TOO_MANY_LISTENERS);
  }

  async follow(jobId: string, streams: number): Promise<boolean> {
    return this.#followed.note(jobId, streams, Date.now());
  }

  override async alarm(): Promise<void> {
    await this.#events.ring();
  }

  async forgetSecrets(): Promise<void> {
    this.#secrets = null;
    this.#withoutSecretsUntil = 0;
  }

  /** Concurrent calls share one count. While the database is unavailable, every job is admitted. */
  #recount(limit: number): Promise<void> {
    const count = async (): Promise<void> => {
      const at = Date.now();
      this.#count = { counted: this.#count?.counted ?? 0, at, started: 0 };
      try {
        const counted = await countUnfinished(this.env.DB, this.#id, limit);
        this.#count = { counted, at, started: this.#count.started };
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

  /** The secrets that sign deliveries; null when they cannot be read: then the job's own secret is used. */
  async #signWith(): Promise<string[] | null> {
    const now = Date.now();
    if ((this.#secrets?.at ?? 0) + KEEP_SECRETS_MS < now && now >= this.#withoutSecretsUntil)
      await this.#readSecrets(now);
    const secrets = this.#secrets;
    if (!secrets) return null;
    const previous = secrets.previous && secrets.previous.until > now ? [secrets.previous.text] : [];
    return [secrets.current, ...previous];
  }

  async #readSecrets(now: number): Promise<void> {
    try {
      const { sealingKeys } = settingsOf(this.env);
      const account = await findAccount(this.env.DB, this.#id);
      if (!account) {
        this.#withoutSecretsUntil = now + KEEP_SECRETS_MS;
        return;
      }
      const open = (sealed: string): Promise<string> => unseal(sealed, `account:${account.id}`, sealingKeys);
      const { sealedPreviousSecret: sealed, previousUntil: until } = account;
      const previous = sealed !== null && until !== null && until > now ? { text: await open(sealed), until } : null;
      this.#secrets = { at: now, current: await open(account.sealedWebhookSecret), previous };
    } catch (error) {
      log.warn("webhook secrets not readable", { account: this.#id, error: messageOf(error) });
      this.#withoutSecretsUntil = now + KEEP_SECRETS_MS;
    }
  }
}
