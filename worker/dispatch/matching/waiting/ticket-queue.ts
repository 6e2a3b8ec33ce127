// The waiting tickets, by account and by job. Knows which of them are on disk.
import { signatureOf } from "#shared/protocol/requirements.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { Roster } from "../nodes/roster.ts";
import { addTo, removeFrom } from "../sets.ts";
import type { Account, Accounts } from "./accounts.ts";
import { isStale, type Ticket, ticketKey } from "./tickets.ts";

/** A waiting ticket. */
export type Entry = {
  readonly key: string;
  readonly account: Account;
  /** Key of the ticket's requirements and preferences: equal keys suit the same nodes equally well. */
  readonly suits: string;
  /** The region near its source; null: unknown. */
  readonly near: string | null;
  ticket: Ticket;
  /** Number of successive nodes that got none of its tasks. */
  emptyClaims: number;
};

/** A node may get no task because it already works on the same tasks. The second node proves that there are none. */
const MAX_EMPTY_CLAIMS = 2;

export class TicketQueue {
  readonly #roster: Pick<Roster, "get">;
  readonly #accounts: Accounts;
  /** Tickets in the order of their last advertisement. */
  readonly #entries = new Map<string, Entry>();
  readonly #ofAccounts = new Map<Account, Set<Entry>>();
  /** Tickets that prefer the node with their source. */
  readonly #withSource = new Map<Account, Set<Entry>>();
  readonly #ofJobs = new Map<string, Set<Entry>>();
  readonly #stored = new Set<string>();
  readonly #changed = new Set<string>();

  constructor(roster: Pick<Roster, "get">, accounts: Accounts) {
    this.#roster = roster;
    this.#accounts = accounts;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The number of accounts with tickets. */
  get accounts(): number {
    return this.#ofAccounts.size;
  }

  /** True if the account has tickets. */
  has(account: Account): boolean {
    return this.#ofAccounts.has(account);
  }

  values(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** The accounts with waiting tickets, and these tickets. `onlyWithSource`: only tickets whose source a node has. */
  byAccount(onlyWithSource = false): Iterable<readonly [Account, Iterable<Entry>]> {
    return onlyWithSource ? this.#withSource : this.#ofAccounts;
  }

  /** Adds a ticket from the hub's storage. */
  restore(ticket: Ticket, now: number): void {
    const key = this.put({ ...ticket, isCountOld: true }, now);
    this.#stored.add(key);
    this.#changed.delete(key);
  }

  /** Replaces the job's ticket of the same class and requirements. A count of zero removes it. */
  put(ticket: Ticket, now: number): string {
    const key = ticketKey(ticket);
    const before = this.#entries.get(key);
    if (before) this.#remove(before);
    if (ticket.count > 0) {
      const waitingSince = before?.ticket.waitingSince || ticket.waitingSince || now;
      this.#add({ ...ticket, waitingSince }, key, before?.near ?? null);
    }
    return key;
  }

  /** Removes the tickets of a job's class except these: the job no longer has such tasks. */
  keepOnly(jobId: string, slotClass: SlotClass, keys: ReadonlySet<string>): void {
    for (const entry of this.#ofJobs.get(jobKey({ jobId, slotClass })) ?? []) {
      if (!keys.has(entry.key)) this.#remove(entry);
    }
  }

  /** Takes some of a ticket's tasks. */
  pop(entry: Entry, count: number): void {
    const { ticket } = entry;
    const rest = ticket.count - count;
    // A job with an outdated count is called until it has no task left.
    if (rest > 0 || ticket.isCountOld) entry.ticket = { ...ticket, count: Math.max(1, rest) };
    else this.#remove(entry);
  }

  /** Returns tasks that were taken. They wait until `notBefore`, unless the job has advertised again since then. */
  giveBack(ticket: Ticket, count: number, notBefore: number, now: number): void {
    const rest = this.#entries.get(ticketKey(ticket))?.ticket;
    if (rest && rest.advertisedAt !== ticket.advertisedAt) return;
    this.put({ ...ticket, count: (rest?.count ?? 0) + count, notBefore }, now);
  }

  /**
   * Handles a job's answer to a call for tasks. A job without a task for several nodes is not called again until it
   * advertises.
   */
  claimed(ticket: Ticket, count: number): void {
    const entry = this.#entries.get(ticketKey(ticket));
    if (entry?.ticket.advertisedAt !== ticket.advertisedAt) return;
    entry.emptyClaims = count > 0 ? 0 : entry.emptyClaims + 1;
    if (entry.emptyClaims >= MAX_EMPTY_CLAIMS) this.#remove(entry);
  }

  /** Removes tickets that were not advertised again. */
  removeStale(now: number): void {
    for (const entry of this.#entries.values()) {
      if (!isStale(entry.ticket, now)) return;
      this.#remove(entry);
    }
  }

  /**
   * The tickets to store since the last call; null: to delete. Each ticket is stored once, as a note to call its job:
   * the job knows its number of tasks.
   */
  takeChanges(): (readonly [key: string, ticket: Ticket | null])[] {
    const changes = [...this.#changed].map((key) => [key, this.#entries.get(key)?.ticket ?? null] as const);
    this.#changed.clear();
    const unsaved = changes.filter(([key, ticket]) => (ticket === null) === this.#stored.has(key));
    for (const [key, ticket] of unsaved) {
      if (ticket) this.#stored.add(key);
      else this.#stored.delete(key);
    }
    return unsaved;
  }

  #add(ticket: Ticket, key: string, nearBefore: string | null): void {
    const { accountId, weight, maxRunning, requirements, prefer, steady } = ticket;
    const account = this.#accounts.get(accountId);
    account.weight = weight;
    account.maxRunning = maxRunning;
    const near = (prefer === null ? null : this.#roster.get(prefer)?.profile.region) ?? nearBefore;
    const suits = [signatureOf(requirements), near ?? "", steady ? "steady" : ""].join("\n");
    const entry: Entry = { key, account, suits, near, ticket, emptyClaims: 0 };
    this.#entries.set(key, entry);
    this.#changed.add(key);
    addTo(this.#ofAccounts, account, entry);
    if (prefer !== null) addTo(this.#withSource, account, entry);
    addTo(this.#ofJobs, jobKey(ticket), entry);
  }

  #remove(entry: Entry): void {
    const { key, account, ticket } = entry;
    this.#entries.delete(key);
    this.#changed.add(key);
    removeFrom(this.#ofAccounts, account, entry);
    removeFrom(this.#withSource, account, entry);
    removeFrom(this.#ofJobs, jobKey(ticket), entry);
  }
}

const jobKey = ({ jobId, slotClass }: Pick<Ticket, "jobId" | "slotClass">): string => `${slotClass} ${jobId}`;
