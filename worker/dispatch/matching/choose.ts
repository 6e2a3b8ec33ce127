// Chooses the next ticket and its node: first the account with the lowest load, then the higher band of priority among
// the account's tickets, then the account's oldest job. Accounts with a `maxPriority` come before or after others.
// Iterates over all tickets, except tickets of accounts that may run no more tasks.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { Candidates } from "./candidates.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import type { Roster } from "./nodes/roster.ts";
import { quotaOf, roomOf } from "./shares.ts";
import type { Accounts } from "./waiting/accounts.ts";
import type { Entry, TicketQueue } from "./waiting/ticket-queue.ts";
import type { Ticket } from "./waiting/tickets.ts";

/** A ticket, the node that gets it, and the number of the node's slots. */
export type Match<Node> = { readonly ticket: Ticket; readonly node: Node; readonly slots: number };
/** A match with the waiting ticket's entry. */
export type Choice<Node> = { readonly entry: Entry; readonly node: Node; readonly slots: number };

/** Bands of a ticket's priority: beside tickets of other accounts, and among the tickets of its account. */
type Bands = { readonly among: number; readonly within: number };
/** A waiting ticket, its bands of priority, and the load of its account. */
type Bid = { readonly entry: Entry; readonly bands: Bands; readonly load: number };
/** A ticket and the node that should take it. */
type Candidate<Node> = Bid & { readonly node: Node };
/** The first candidates of a search by class. `noRoom`: some accounts had no room for other tickets. */
type Search<Node> = Record<SlotClass, Candidate<Node> | null> & { noRoom: boolean };
/** True if a ticket comes before another one. */
type Order = (bid: Bid, other: Bid) => boolean;

const BANDS = 5;
/** Waiting time after which a ticket rises by a band of priority, so that no ticket waits for ever. */
const RISE_EVERY_MS = 15 * 60_000;
/** The number of matches per match that prefers accounts that were not served for OVERDUE_MS. */
const MATCHES_PER_OVERDUE = 16;
const OVERDUE_MS = 60 * 60_000;

type Deps<Node extends ConnectedNode> = {
  readonly roster: Roster<Node>;
  readonly accounts: Accounts;
  readonly queue: TicketQueue;
};

export class Chooser<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;
  readonly #accounts: Accounts;
  readonly #queue: TicketQueue;
  readonly #candidates: Candidates<Node>;
  #choices = 0;

  constructor({ roster, accounts, queue }: Deps<Node>) {
    this.#roster = roster;
    this.#accounts = accounts;
    this.#queue = queue;
    this.#candidates = new Candidates(roster);
  }

  /**
   * Returns the first ticket in turn that fits a node with a free slot, with the best such node. Accounts that use
   * their share (shareOf) come last.
   */
  next(now: number): Choice<Node> | null {
    for (const othersWait of this.#queue.accounts > 1 ? [true, false] : [false]) {
      const { inspect, encode, noRoom } = this.#search(othersWait, now, inTurn);
      const first = encode && inspect && this.#isBefore(inspect, encode) ? inspect : (encode ?? inspect);
      if (first) return this.#choiceOf(this.#overdue(othersWait, now) ?? first, othersWait);
      if (!noRoom) return null;
    }
    return null;
  }

  /** Time at which more nodes may take a ticket than now; Infinity: never, or no slot is free. */
  opensAt(now: number): number {
    const free = this.#free;
    let first = Infinity;
    if (!free.inspect && !free.encode) return first;
    for (const entry of this.#queue.values()) {
      if (free[entry.ticket.slotClass]) first = Math.min(first, this.#candidates.opensAt(entry, now));
    }
    return first;
  }

  /** True for each class in which some node has a free slot for any work. */
  get #free(): Record<SlotClass, boolean> {
    const pools = [...this.#roster.profiles.pools()];
    const isFree = (slotClass: SlotClass): boolean => pools.some((pool) => this.#roster.sums.free(pool, slotClass) > 0);
    return { inspect: isFree("inspect"), encode: isFree("encode") };
  }

  /** Finds the first ticket of each class, in some order, that its account may run and a node may take. */
  #search(othersWait: boolean, now: number, comesFirst: Order): Search<Node> {
    const first: Search<Node> = { inspect: null, encode: null, noRoom: false };
    const free = this.#free;
    const { sums } = this.#roster;
    // Without a free slot for any work, a slot may still be held for a source.
    for (const [account, entries] of this.#queue.byAccount(!free.inspect && !free.encode)) {
      if (quotaOf(account, sums) < 1) continue;
      const load = this.#accounts.loadOf(account, sums.tasksOf(account.id), now);
      const rooms = new Map<string, number>();
      for (const entry of entries) {
        const { notBefore, slotClass, prefer, requirements } = entry.ticket;
        if (notBefore > now || (prefer === null && !free[slotClass])) continue;
        const bid = { entry, load, bands: bandsOf(entry.ticket, now) };
        const other = first[slotClass];
        if (other && !comesFirst(bid, other)) continue;
        const key = `${slotClass} ${requirements.pool}`;
        const room = rooms.get(key) ?? roomOf(entry, sums, othersWait);
        rooms.set(key, room);
        const node = room < 1 ? null : this.#candidates.nodeFor(entry, now);
        if (node) first[slotClass] = { ...bid, node };
        first.noRoom ||= room < 1;
      }
    }
    return first;
  }

  /**
   * Finds a ticket of an account that was not served for OVERDUE_MS, at every MATCHES_PER_OVERDUE-th match. Turns alone
   * would starve the account while new accounts come faster than they are served.
   */
  #overdue(othersWait: boolean, now: number): Candidate<Node> | null {
    if (this.#choices % MATCHES_PER_OVERDUE !== 0) return null;
    const { inspect, encode } = this.#search(othersWait, now, waitsLonger);
    const first = inspect && (!encode || waitsLonger(inspect, encode)) ? inspect : encode;
    return first && waitsSince(first.entry) <= now - OVERDUE_MS ? first : null;
  }

  /**
   * True if an inspection comes before an encode whose slot it would also take. Jobs that have started come first,
   * unless the encode's source would be fetched again.
   */
  #isBefore(inspect: Candidate<Node>, encode: Candidate<Node>): boolean {
    const byBand = byBands(inspect, encode);
    if (byBand !== 0) return byBand > 0;
    const { prefer } = encode.entry.ticket;
    const source = prefer === null ? null : this.#roster.acceptingNode(prefer);
    return source !== null && encode.node !== source;
  }

  #choiceOf({ entry, node }: Candidate<Node>, othersWait: boolean): Choice<Node> {
    this.#choices += 1;
    const { slotClass, prefer, count } = entry.ticket;
    const hasSource = node.nodeId === prefer;
    const free = hasSource ? this.#roster.freeForSources(node, slotClass) : this.#roster.freeOf(node, slotClass);
    return { entry, node, slots: Math.min(count, free, roomOf(entry, this.#roster.sums, othersWait)) };
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
  const within = Math.min(BANDS - 1, bandOf(priority) + risen);
  return { within, among: maxPriority === null ? bandOf(0) : Math.min(within, bandOf(maxPriority)) };
}

/** Positive: the bands of the first ticket come first. Only tickets of the same account compare `within`. */
const byBands = (bid: Bid, other: Bid): number =>
  bid.bands.among - other.bands.among ||
  (bid.entry.account === other.entry.account ? bid.bands.within - other.bands.within : 0);

/** The order of turns. */
function inTurn(bid: Bid, other: Bid): boolean {
  const byBand = byBands(bid, other);
  if (byBand !== 0) return byBand > 0;
  const [{ account }, { account: otherAccount }] = [bid.entry, other.entry];
  if (account === otherAccount) return isOlder(bid.entry.ticket, other.entry.ticket);
  return (bid.load - other.load || account.turn - otherAccount.turn) < 0;
}

/** True if the job of the first ticket is older than the job of the second. */
export function isOlder(ticket: Ticket, other: Ticket): boolean {
  const since = ticket.since - other.since;
  return since < 0 || (since === 0 && ticket.jobId < other.jobId);
}

/** Start of a ticket's wait: the arrival of the ticket, or the time when its account was last served, if later. */
const waitsSince = ({ account, ticket }: Entry): number => Math.max(account.servedAt, ticket.waitingSince);
const waitsLonger: Order = (bid, other) => waitsSince(bid.entry) < waitsSince(other.entry);
