// The tickets that wait, each in the group of those that the same nodes may take. No method looks at all tickets,
// except `values`.
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
import type { ConnectedNode } from "../nodes/connected-node.ts";
import type { Roster } from "../nodes/roster.ts";
import type { Account, Accounts } from "./accounts.ts";
import { Groups, opensAt } from "./groups.ts";
import { Heap } from "./heap.ts";
import { BANDS, bandOf, type Entry, type Group } from "./lines.ts";
import { TicketIndex } from "./ticket-index.ts";
import { type Ticket, ticketKey } from "./tickets.ts";

/** A ticket rises by one band of priority after waiting this long, so that nothing waits for ever. */
export const RISE_EVERY_MS = 15 * 60_000;

/** A node may get nothing because it works on the same tasks already; the next one shows that there are none. */
const MAX_EMPTY_CLAIMS = 2;

export class Waiting<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;
  readonly #accounts: Accounts;
  readonly #index = new TicketIndex();
  readonly #groups: Groups<Node>;
  readonly #accepting = new Set<string>();
  readonly #opening: Record<SlotClass, Heap<Entry>> = {
    inspect: new Heap((one, other) => one.opensAt < other.opensAt),
    encode: new Heap((one, other) => one.opensAt < other.opensAt),
  };
  readonly #rising = new Heap<Entry>((one, other) => one.risesAt < other.risesAt);

  constructor(roster: Roster<Node>, accounts: Accounts) {
    this.#roster = roster;
    this.#accounts = accounts;
    this.#groups = new Groups(roster);
  }

  get size(): number {
    return this.#index.size;
  }

  get(key: string): Ticket | null {
    return this.#index.get(key)?.ticket ?? null;
  }

  *values(): Generator<Ticket> {
    for (const { ticket } of this.#index.values()) yield ticket;
  }

  /** The groups whose tickets may be taken: those for any node, and those for a node that has a free slot now. */
  *groups(slotClass: SlotClass): Generator<Group> {
    yield* this.#groups.forAny(slotClass);
    for (const nodeId of this.#groups.freed(slotClass)) {
      const group = this.#groups.heldFor(nodeId, slotClass);
      if (group) yield group;
    }
  }

  /** The groups whose tickets wait for any node. */
  lendable(slotClass: SlotClass): Iterable<Group> {
    return this.#groups.forAny(slotClass);
  }

  /** The groups whose tickets a node may take when it has a free slot, if it has what they require. */
  *groupsFor(nodeId: string, slotClass: SlotClass): Generator<Group> {
    yield* this.#groups.forAny(slotClass);
    const held = this.#groups.heldFor(nodeId, slotClass);
    if (held) yield held;
  }

  /** Adds a ticket of the hub's storage. */
  restore(ticket: Ticket, now: number): void {
    this.put({ ...ticket, isCountOld: true }, now);
    this.#index.isOnDisk(ticketKey(ticket));
  }

  /** A job advertises: replaces its ticket of the same class and requirements; a count of zero removes it. */
  put(ticket: Ticket, now: number): void {
    const key = ticketKey(ticket);
    const before = this.#index.get(key);
    if (before) this.#remove(before);
    if (ticket.count > 0)
      this.#insert(key, { ...ticket, waitingSince: before?.ticket.waitingSince || ticket.waitingSince || now }, now);
  }

  /** Removes the tickets of a job's class except these: it no longer requires that. */
  keepOnly(jobId: string, slotClass: SlotClass, keys: ReadonlySet<string>): void {
    for (const entry of this.#index.ofJob(jobId, slotClass)) if (!keys.has(entry.key)) this.#remove(entry);
  }

  /** Takes some of a ticket's tasks. */
  take(ticket: Ticket, count: number): void {
    const entry = this.#index.get(ticketKey(ticket));
    if (!entry) return;
    const rest = entry.ticket.count - count;
    // A job of which the count is not known is called until it has nothing left.
    if (rest > 0 || ticket.isCountOld) entry.ticket = { ...entry.ticket, count: Math.max(1, rest) };
    else this.#remove(entry);
  }

  /** Returns tasks that were taken, to wait until `notBefore`, unless the job has advertised again meanwhile. */
  giveBack(ticket: Ticket, count: number, notBefore: number, now: number): void {
    const rest = this.get(ticketKey(ticket));
    if (rest && rest.advertisedAt !== ticket.advertisedAt) return;
    this.put({ ...ticket, count: (rest?.count ?? 0) + count, notBefore }, now);
  }

  /** A job was called for tasks. One that has none, for several nodes, is called no more until it advertises again. */
  claimed(ticket: Ticket, count: number): void {
    const entry = this.#index.get(ticketKey(ticket));
    if (entry?.ticket.advertisedAt !== ticket.advertisedAt) return;
    entry.emptyClaims = count > 0 ? 0 : entry.emptyClaims + 1;
    if (entry.emptyClaims >= MAX_EMPTY_CLAIMS) this.#remove(entry);
  }

  /** Moves the tickets for which time has changed something. */
  advance(now: number): void {
    for (const slotClass of SLOT_CLASSES) {
      const opening = this.#opening[slotClass];
      for (let entry = opening.peek(); entry && entry.opensAt <= now; entry = opening.peek()) this.#place(entry, now);
    }
    for (let entry = this.#rising.peek(); entry && entry.risesAt <= now; entry = this.#rising.peek()) {
      this.#place(entry, now);
    }
  }

  /** A node was changed, added or removed. */
  nodeChanged(nodeId: string, now: number): void {
    for (const slotClass of SLOT_CLASSES) this.#groups.nodeChanged(nodeId, slotClass);
    const accepts = this.#roster.accepter(nodeId) !== null;
    if (this.#accepting.has(nodeId) === accepts) return;
    if (accepts) this.#accepting.add(nodeId);
    else this.#accepting.delete(nodeId);
    // What prefers it waits for it, as long as it accepts work.
    for (const entry of this.#index.preferring(nodeId)) this.#place(entry, now);
  }

  /** What still waits for nodes that have a free slot may not use it: it waits for any node. */
  releaseHeld(now: number): void {
    for (const slotClass of SLOT_CLASSES) {
      for (const nodeId of this.#groups.freed(slotClass)) {
        for (const entry of this.#index.preferring(nodeId)) {
          if (entry.ticket.slotClass !== slotClass || entry.line?.group.nodeId !== nodeId) continue;
          entry.mayHold = false;
          this.#place(entry, now);
        }
      }
      this.#groups.clearFreed(slotClass);
    }
  }

  /** What an account has used has changed, or whether it may run more tasks. */
  accountChanged(account: Account): void {
    this.#groups.accountChanged(account);
  }

  /** When the first ticket of a class opens to more nodes; Infinity: never. */
  opensAt(slotClass: SlotClass): number {
    return this.#opening[slotClass].peek()?.opensAt ?? Infinity;
  }

  /** Removes tickets that were not advertised again. */
  removeStale(now: number): void {
    for (const entry of this.#index.stale(now)) this.#remove(entry);
  }

  /** The tickets to store since the last call; null: to delete. */
  takeChanges(): (readonly [key: string, ticket: Ticket | null])[] {
    return this.#index.takeChanges();
  }

  #insert(key: string, ticket: Ticket, now: number): void {
    const account = this.#accounts.get(ticket.accountId);
    account.weight = ticket.weight;
    account.maxRunning = ticket.maxRunning;
    this.#accounts.count(account, ticket.slotClass, 1);
    const times = { opensAt: Infinity, risesAt: Infinity };
    const place = { band: 0, line: null, near: null, mayHold: true };
    const entry: Entry = { key, account, ticket, ...place, emptyClaims: 0, ...times };
    this.#index.add(entry);
    this.#place(entry, now);
    this.accountChanged(account);
  }

  #remove(entry: Entry): void {
    const { account, ticket } = entry;
    this.#index.delete(entry);
    this.#groups.leave(entry);
    this.#opening[ticket.slotClass].delete(entry);
    this.#rising.delete(entry);
    this.#accounts.count(account, ticket.slotClass, -1);
  }

  /** Puts a ticket where it belongs now. */
  #place(entry: Entry, now: number): void {
    this.#groups.leave(entry);
    const { ticket } = entry;
    const risen = Math.floor(Math.max(0, now - ticket.waitingSince) / RISE_EVERY_MS);
    entry.band = Math.min(BANDS - 1, bandOf(ticket.priority) + risen);
    entry.risesAt = entry.band === BANDS - 1 ? Infinity : ticket.waitingSince + (risen + 1) * RISE_EVERY_MS;
    if (entry.risesAt === Infinity) this.#rising.delete(entry);
    else this.#rising.place(entry);
    const group = ticket.notBefore > now ? null : this.#groups.join(entry, now);
    entry.opensAt = opensAt(entry, group, now);
    const opening = this.#opening[ticket.slotClass];
    if (entry.opensAt === Infinity) opening.delete(entry);
    else opening.place(entry);
  }
}
