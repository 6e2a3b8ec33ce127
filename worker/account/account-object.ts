// The object of one account: what its jobs share, so that none of it has to be asked of the database for each of them.
import { DurableObject } from "cloudflare:workers";
import { messageOf } from "#shared/log.ts";
import { countUnfinished, findAccount } from "../db/accounts.ts";
import { type Env, log, settingsOf } from "../env.ts";
import { unseal } from "../storage/sealed-secret.ts";
import { type JobCount, judgeJob } from "./job-count.ts";
import { Receivers } from "./receivers.ts";

/** What a delivery may do: go, signed with these (the account's newest secret first), or wait. */
export type Admission =
  | { readonly go: true; readonly signWith: readonly string[] | null }
  | { readonly go: false; readonly at: number };

/** The route that rotates a secret says so here; this is for when that call is lost. */
const KEEP_SECRETS_MS = 60_000;

type Secrets = {
  readonly at: number;
  readonly current: string;
  readonly previous: { text: string; until: number } | null;
};

export class AccountObject extends DurableObject<Env> {
  readonly #receivers: Receivers;
  #count: JobCount | null = null;
  #counting: Promise<void> | null = null;
  #secrets: Secrets | null = null;
  /** Until when the database is not asked again for secrets that it did not give. */
  #withoutSecretsUntil = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#receivers = new Receivers(ctx.storage.kv);
  }

  get #id(): string {
    return this.ctx.id.name?.replace(/^account:/, "") ?? "";
  }

  /** Whether the account may begin another job, if it may have `limit` that have not ended; true counts it as begun. */
  async admitJob(limit: number): Promise<boolean> {
    if (judgeJob(this.#count, limit, Date.now()) === "count") await this.#recount(limit);
    const verdict = judgeJob(this.#count, limit, Date.now());
    if (verdict === "refuse") return false;
    if (this.#count) this.#count = { ...this.#count, begun: this.#count.begun + 1 };
    return true;
  }

  async admitDelivery(receiver: string): Promise<Admission> {
    const admitted = this.#receivers.admit(receiver, Date.now());
    return admitted.go ? { go: true, signWith: await this.#signWith() } : admitted;
  }

  async deliveryEnded(receiver: string, wasTaken: boolean): Promise<void> {
    this.#receivers.ended(receiver, wasTaken, Date.now());
  }

  /** The account's secrets have changed. */
  async forgetSecrets(): Promise<void> {
    this.#secrets = null;
    this.#withoutSecretsUntil = 0;
  }

  /** Counts once for all who ask meanwhile. While the database does not answer, nobody is refused. */
  #recount(limit: number): Promise<void> {
    const count = async (): Promise<void> => {
      const at = Date.now();
      this.#count = { counted: this.#count?.counted ?? 0, at, begun: 0 };
      try {
        const counted = await countUnfinished(this.env.DB, this.#id, limit);
        this.#count = { counted, at, begun: this.#count.begun };
      } catch (error) {
        log.warn("Unfinished jobs not counted", { account: this.#id, error: messageOf(error) });
        this.#count = null;
      }
    };
    this.#counting ??= count().finally(() => {
      this.#counting = null;
    });
    return this.#counting;
  }

  /** What deliveries are signed with; null when the database does not say, and then the job's own secret must do. */
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
      log.warn("The account's webhook secrets cannot be read", { account: this.#id, error: messageOf(error) });
      this.#withoutSecretsUntil = now + KEEP_SECRETS_MS;
    }
  }
}
