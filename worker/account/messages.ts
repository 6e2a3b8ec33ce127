// Webhooks of an account's upload links on their way: the alarm of the account's object sends them. Each has an entry
// with its time in the key, so that the first entry is due first.
import * as z from "zod";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../bindings.ts";
import { seal, unseal } from "../crypto/sealed-secret.ts";
import type { DeliveryResult } from "../notify/delivery.ts";
import { afterSending, hostOf, isDelivered, Message } from "../notify/outbox.ts";
import { postWebhook } from "../notify/webhook.ts";
import type { AccountRpc } from "../rpc/account.ts";
import { settingsOf } from "../settings.ts";

const PREFIX = "message:";
const TIME_DIGITS = 16;
/** A Worker waits for six responses at the same time (Workers limits, "Simultaneous open connections"). */
const CONCURRENT = 6;

/** `receiver`: the URL, sealed to `webhook:<id>`. */
const Stored = Message.extend({ receiver: z.string() });
type Stored = z.infer<typeof Stored>;

const contextOf = ({ id }: Pick<Message, "id">): string => `webhook:${id}`;

/** Admits deliveries to a receiver, and learns their ends. */
type Gate = Pick<AccountRpc, "admitDelivery" | "deliveryEnded">;

export class Messages {
  readonly #kv: SyncKvStorage;
  readonly #env: Env;
  readonly #gate: Gate;

  constructor(kv: SyncKvStorage, env: Env, gate: Gate) {
    this.#kv = kv;
    this.#env = env;
    this.#gate = gate;
  }

  /** The time of the next attempt; infinite without messages. */
  get dueAt(): number {
    for (const [key] of this.#kv.list({ prefix: PREFIX, limit: 1 })) return timeOf(key);
    return Number.POSITIVE_INFINITY;
  }

  async add(message: Pick<Message, "id" | "body">, url: string): Promise<void> {
    const receiver = await seal(url, contextOf(message), settingsOf(this.#env).sealingKeys);
    this.#put({ ...message, attempts: 0, nextAt: Date.now(), receiver });
  }

  /** Sends the messages that are due, at most as many as the platform sends at the same time. */
  async sendDue(now: number): Promise<void> {
    const first = [...this.#kv.list({ prefix: PREFIX, limit: CONCURRENT })];
    await Promise.all(first.filter(([key]) => timeOf(key) <= now).map(([key, value]) => this.#attempt(key, value)));
  }

  async #attempt(key: string, value: unknown): Promise<void> {
    const message = Stored.parse(value);
    const after = await this.#send(message).catch((error) => afterNow(message, { error: messageOf(error) }));
    this.#kv.delete(key);
    if (after) this.#put({ ...after, receiver: message.receiver });
  }

  /** The message after an attempt; null if it needs no other attempt. */
  async #send(message: Stored): Promise<Message | null> {
    const settings = settingsOf(this.#env);
    const url = await unseal(message.receiver, contextOf(message), settings.sealingKeys);
    const admitted = await this.#gate.admitDelivery(hostOf(url));
    if (!admitted.go) return { ...message, nextAt: admitted.at };
    const { signWith } = admitted;
    const result = signWith
      ? await postWebhook(message, { receiver: { url }, signWith, settings, now: Date.now() })
      : { error: "The secret of the account is not readable" };
    await this.#gate.deliveryEnded(hostOf(url), isDelivered(result));
    return afterNow(message, result);
  }

  #put(message: Stored): void {
    this.#kv.put(`${PREFIX}${String(message.nextAt).padStart(TIME_DIGITS, "0")}:${message.id}`, message);
  }
}

const afterNow = (message: Message, result: DeliveryResult): Message | null =>
  afterSending(message, result, Date.now());
const timeOf = (key: string): number => Number(key.slice(PREFIX.length, PREFIX.length + TIME_DIGITS));
