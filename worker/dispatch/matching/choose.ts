// Chooses the next ticket and its node: first the account that has used least, then the higher band of priority among
// the account's tickets, then the account's oldest job. Accounts with a `maxPriority` come before or after others.
// Iterates over all tickets, except tickets of accounts that may run no more tasks.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { Candidates, freeNodes } from "./candidates.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import type { Roster } from "./nodes/roster.ts";
import { quotaOf, roomOf } from "./shares.ts";
import type { Entry, Waiting } from "./waiting/ticket-queue.ts";
import type { Ticket } from "./waiting/tickets.ts";

/** A ticket, the node that gets it, and the number of the node's slots. */
export type Match<Node> = { readonly ticket: Ticket; readonly node: Node; readonly slots: number };
/** A match with the waiting ticket's entry. */
export type Choice<Node> = { readonly entry: Entry; readonly node: Node; readonly slots: number };

/** Bands of a ticket's priority: beside tickets of other accounts, and among the tickets of its account. */
type Bands = { readonly among: number; readonly own: number };
/** A ticket, its bands of priority, and the node that should take it. */
type Candidate<Node> = { readonly entry: Entry; readonly bands: Bands; readonly node: Node };
/** The first tickets of a search by class. `noRoom`: some accounts had no room for other tickets. */
type Found<Node> = Record<SlotClass, Candidate<Node> | null> & { noRoom: boolean };
/** True if a ticket of these bands comes before the candidate found so far; null: no candidate yet. */
type Order<Node> = (entry: Entry, bands: Bands, found: Candidate<Node> | null) => boolean;

const BANDS = 5;
/** Waiting time after which a ticket rises by a band of priority, so that no ticket waits for ever. */
const RISE_EVERY_MS = 15 * 60_000;
/** The number of matches per match that prefers accounts that were not served for OVERDUE_MS. */
const MATCHES_PER_OVERDUE = 16;
const OVERDUE_MS = 60 * 60_000;

export class Chooser<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;
  readonly #waiting: Waiting;
  readonly #candidates: Candidates<Node>;
  #choices = 0;

  constructor(roster: Roster<Node>, waiting: Waiting) {
    this.#roster = roster;
    this.#waiting = waiting;
    this.#candidates = new Candidates(roster);
  }

  /**
   * Returns the first ticket in turn that fits a node with a free slot, with the best such node. Accounts that use
   * their share (shareOf) come last.
   */
  next(now: number): Choice<Node> | null {
    for (const othersWait of [true, false]) {
      const { inspect, encode, noRoom } = this.#search(othersWait, now, inTurn);
      const first = encode && inspect && this.#isBefore(inspect, encode) ? inspect : (encode ?? inspect);
      if (first) return this.#choiceOf(this.#overdue(othersWait, now) ?? first, othersWait, now);
      if (!noRoom) return null;
    }
    return null;
  }

  /** Time at which more nodes may take a ticket than now; Infinity: never, or no slot is free. */
  opensAt(now: number): number {
    const free = this.#free;
    let first = Infinity;
    if (!free.inspect && !free.encode) return first;
    for (const entry of this.#waiting.values()) {
      if (free[entry.ticket.slotClass]) first = Math.min(first, this.#candidates.opensAt(entry, now));
    }
    return first;
  }

  /** True for each class in which some node has a free slot for any work. */
  get #free(): Record<SlotClass, boolean> {
    const pools = [...this.#roster.kinds.pools()];
    const isFree = (of: SlotClass): boolean => pools.some((pool) => this.#roster.free(pool, of) > 0);
    return { inspect: isFree("inspect"), encode: isFree("encode") };
  }

  /** Finds the first ticket of each class, in some order, that its account may run and a node may take. */
  #search(othersWait: boolean, now: number, comesFirst: Order<Node>): Found<Node> {
    const found: Found<Node> = { inspect: null, encode: null, noRoom: false };
    const free = this.#free;
    const nodes = freeNodes<Node>();
    // Without a free slot for any work, a slot may still be held for a source.
    for (const [account, entries] of this.#waiting.byAccount(!free.inspect && !free.encode)) {
      if (quotaOf(account, this.#roster) < 1) continue;
      const rooms = new Map<string, number>();
      for (const entry of entries) {
        const { ticket } = entry;
        const { notBefore, slotClass, prefer, requirements } = ticket;
        if (notBefore > now || (prefer === null && !free[slotClass])) continue;
        const bands = bandsOf(ticket, now);
        if (!comesFirst(entry, bands, found[slotClass])) continue;
        const node = this.#candidates.nodeFor(entry, now, nodes);
        if (!node) continue;
        const key = `${slotClass} ${requirements.pool}`;
        const room = rooms.get(key) ?? roomOf(entry, this.#roster, othersWait);
        rooms.set(key, room);
        if (room > 0) found[slotClass] = { entry, bands, node };
        else found.noRoom = true;
      }
    }
    return found;
  }

  /**
   * Finds a ticket of an account that was not served for OVERDUE_MS, at every MATCHES_PER_OVERDUE-th match. Turns alone
   * would starve the account while new accounts come faster than they are served.
   */
  #overdue(othersWait: boolean, now: number): Candidate<Node> | null {
    if (this.#choices % MATCHES_PER_OVERDUE !== 0) return null;
    const { inspect, encode } = this.#search(othersWait, now, (entry, _, found) => {
      const since = waitsSince(entry);
      return since <= now - OVERDUE_MS && (found === null || since < waitsSince(found.entry));
    });
    return inspect && encode && waitsSince(inspect.entry) < waitsSince(encode.entry) ? inspect : (encode ?? inspect);
  }

  /**
   * True if an inspection comes before an encode whose slot it would also take. Jobs that have started come first,
   * unless the encode's source would be fetched again.
   */
  #isBefore(inspect: Candidate<Node>, encode: Candidate<Node>): boolean {
    const byBand = byBands(inspect, encode);
    if (byBand !== 0) return byBand > 0;
    const { prefer } = encode.entry.ticket;
    const source = prefer === null ? null : this.#roster.accepter(prefer);
    return source !== null && encode.node !== source;
  }

  #choiceOf({ entry, node }: Candidate<Node>, othersWait: boolean, now: number): Choice<Node> {
    this.#choices += 1;
    const { slotClass, prefer, count } = entry.ticket;
    const hasSource = node.nodeId === prefer;
    const free = hasSource ? this.#roster.freeForSources(node, slotClass) : this.#roster.freeOf(node, slotClass);
    const wanted = Math.min(count, free);
    const room = roomOf(entry, this.#roster, othersWait);
    const isShared = !othersWait || wanted <= room || this.#othersWait(entry, now);
    return { entry, node, slots: Math.min(wanted, isShared ? room : roomOf(entry, this.#roster, false)) };
  }

  /** True if another account has a ticket in the same pool that fits a node now. */
  #othersWait({ account, ticket }: Entry, now: number): boolean {
    const nodes = freeNodes<Node>();
    for (const [other, entries] of this.#waiting.byAccount()) {
      if (other === account || quotaOf(other, this.#roster) < 1) continue;
      for (const entry of entries) {
        const { requirements, notBefore } = entry.ticket;
        if (notBefore > now || requirements.pool !== ticket.requirements.pool) continue;
        if (this.#candidates.nodeFor(entry, now, nodes)) return true;
      }
    }
    return false;
  }
}

/** The band of a priority: -50…-31, -30…-11, -10…9, 10…29, 30…50. */
const bandOf = (priority: number): number => Math.min(BANDS - 1, Math.max(0, Math.floor((priority + 50) / 20)));

/**
 * The bands of a ticket. Each rise of the ticket adds a band. Beside other accounts, the ticket rises up to the band of
 * its account's `maxPriority`; without a `maxPriority` it stays in the middle.
 */
export function bandsOf({ priority, maxPriority, waitingSince }: Ticket, now: number): Bands {
  const risen = Math.floor(Math.max(0, now - waitingSince) / RISE_EVERY_MS);
  const own = Math.min(BANDS - 1, bandOf(priority) + risen);
  return { own, among: maxPriority === null ? bandOf(0) : Math.min(own, bandOf(maxPriority)) };
}

/** Positive: the bands of the first candidate come first. Only tickets of the same account compare their own bands. */
const byBands = (one: Omit<Candidate<unknown>, "node">, other: Candidate<unknown>): number =>
  one.bands.among - other.bands.among ||
  (one.entry.account === other.entry.account ? one.bands.own - other.bands.own : 0);

/** The order of turns. */
function inTurn(entry: Entry, bands: Bands, found: Candidate<unknown> | null): boolean {
  if (!found) return true;
  const byBand = byBands({ entry, bands }, found);
  if (byBand !== 0) return byBand > 0;
  const [{ account }, other] = [entry, found.entry.account];
  if (account === other) return isOlder(entry.ticket, found.entry.ticket);
  // Also for inspections: they lead to encodes.
  return (account.used.encode - other.used.encode || account.turn - other.turn) < 0;
}

/** True if the job of the first ticket is older than the job of the second. */
export function isOlder(one: Ticket, other: Ticket): boolean {
  const since = one.since - other.since;
  return since < 0 || (since === 0 && one.jobId < other.jobId);
}

/** Start of a ticket's wait: the arrival of the ticket, or the time when its account was last served, if later. */
const waitsSince = ({ account, ticket }: Entry): number => Math.max(account.servedAt, ticket.waitingSince);
