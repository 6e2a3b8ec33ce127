// The tickets in the order in which they are matched: accounts take turns, and the oldest job of each comes first.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { type Ticket, ticketKey } from "./tickets.ts";

/** No method looks at all tickets, except `values`. */
export class TicketQueue {
  readonly #tickets = new Map<string, Ticket>();
  /** By account, the one whose turn it is first; each account's tickets by the age of their jobs. */
  readonly #turns: Record<SlotClass, Map<string, Ticket[]>> = { inspect: new Map(), encode: new Map() };
  readonly #stored: Set<string>;
  readonly #changed = new Set<string>();

  /** Starts with the tickets on disk. */
  constructor(stored: Iterable<Ticket> = []) {
    for (const ticket of stored) this.put(ticket);
    this.#stored = new Set(this.#tickets.keys());
    this.#changed.clear();
  }

  get size(): number {
    return this.#tickets.size;
  }

  get(key: string): Ticket | null {
    return this.#tickets.get(key) ?? null;
  }

  values(): Iterable<Ticket> {
    return this.#tickets.values();
  }

  /** Replaces the ticket of the same job and class; a count of zero removes it. */
  put(ticket: Ticket): void {
    const key = ticketKey(ticket);
    const before = this.#tickets.get(key);
    this.#changed.add(key);
    if (before && ticket.count > 0 && isSamePlace(before, ticket)) {
      const waiting = this.#turns[ticket.slotClass].get(ticket.accountId) ?? [];
      waiting[placeOf(ticket, waiting)] = ticket;
    } else {
      if (before) this.#remove(before);
      if (ticket.count > 0) this.#insert(ticket);
    }
    if (ticket.count > 0) this.#tickets.set(key, ticket);
    else this.#tickets.delete(key);
  }

  /** Takes some of a ticket's tasks: its account has had its turn. */
  take(ticket: Ticket, count: number): void {
    this.put({ ...ticket, count: ticket.count - count });
    const turns = this.#turns[ticket.slotClass];
    const waiting = turns.get(ticket.accountId);
    if (!waiting) return;
    turns.delete(ticket.accountId);
    turns.set(ticket.accountId, waiting);
  }

  /** Returns tasks that were taken, to wait until `notBefore`, unless the job has advertised again meanwhile. */
  giveBack(ticket: Ticket, count: number, notBefore: number): void {
    const remaining = this.get(ticketKey(ticket));
    if (remaining && remaining.advertisedAt !== ticket.advertisedAt) return;
    this.put({ ...ticket, count: (remaining?.count ?? 0) + count, notBefore });
  }

  /** Whether any task of a class waits. */
  hasWaiting(slotClass: SlotClass): boolean {
    return this.#turns[slotClass].size > 0;
  }

  /** The accounts in turn, each with its tickets of a class in the order of offers; nothing may change meanwhile. */
  accounts(slotClass: SlotClass): Iterable<[accountId: string, tickets: Iterable<Ticket>]> {
    return this.#turns[slotClass];
  }

  /** The changes since the last call; the caller writes them to disk. */
  takeChanges(): (readonly [key: string, ticket: Ticket | null])[] {
    const changes = [...this.#changed].map((key) => [key, this.get(key)] as const);
    this.#changed.clear();
    const unsaved = changes.filter(([key, ticket]) => ticket || this.#stored.has(key));
    for (const [key, ticket] of unsaved) {
      if (ticket) this.#stored.add(key);
      else this.#stored.delete(key);
    }
    return unsaved;
  }

  #insert(ticket: Ticket): void {
    const turns = this.#turns[ticket.slotClass];
    const waiting = turns.get(ticket.accountId) ?? [];
    waiting.splice(placeOf(ticket, waiting), 0, ticket);
    turns.set(ticket.accountId, waiting);
  }

  #remove(ticket: Ticket): void {
    const turns = this.#turns[ticket.slotClass];
    const waiting = turns.get(ticket.accountId) ?? [];
    waiting.splice(placeOf(ticket, waiting), 1);
    if (waiting.length === 0) turns.delete(ticket.accountId);
  }
}

const isSamePlace = (one: Ticket, other: Ticket): boolean =>
  one.accountId === other.accountId && one.since === other.since;

/** The position of a ticket among those of its account, by bisection. */
function placeOf(ticket: Ticket, waiting: readonly Ticket[]): number {
  let [low, high] = [0, waiting.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = waiting[middle];
    if (other && isBefore(other, ticket)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const isBefore = (one: Ticket, other: Ticket): boolean =>
  one.since < other.since || (one.since === other.since && one.jobId < other.jobId);
