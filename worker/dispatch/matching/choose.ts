// Chooses which node gets which ticket next. Pure, except that it caches ranks.
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { Candidates, type Open } from "./candidates.ts";
import type { ConnectedNode } from "./nodes/connected-node.ts";
import type { Roster } from "./nodes/roster.ts";
import { type MatchingConfig, quotaOf, roomOf } from "./shares.ts";
import { isLineBefore, type Line, waitsSince } from "./waiting/lines.ts";
import type { Ticket } from "./waiting/tickets.ts";
import type { Waiting } from "./waiting/waiting.ts";

/** A ticket, the node that gets it, and for how many of its slots. */
export type Match<Node> = { readonly ticket: Ticket; readonly node: Node; readonly slots: number };

type Candidate = Open & { readonly line: Line };

/** While accounts were not served for OVERDUE_MS, one in this many matches is for them. */
const MATCHES_PER_OVERDUE = 16;
const OVERDUE_MS = 60 * 60_000;

export class Chooser<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;
  readonly #waiting: Waiting<Node>;
  readonly #config: MatchingConfig;
  readonly #candidates: Candidates<Node>;
  #matches = 0;

  constructor(roster: Roster<Node>, waiting: Waiting<Node>, config: MatchingConfig) {
    this.#roster = roster;
    this.#waiting = waiting;
    this.#config = config;
    this.#candidates = new Candidates(roster);
  }

  /**
   * The next match: the first ticket in turn that fits a node with a free slot, with the best such node. Accounts that
   * use their share (shareOf) come last. Looks at the first tickets of groups, never at all tickets or nodes.
   */
  next(now: number): Match<Node> | null {
    const open = { inspect: this.#openGroups("inspect"), encode: this.#openGroups("encode") };
    const all = [...open.inspect, ...open.encode];
    if (all.length === 0) return null;
    for (const othersWait of [true, false]) {
      const hasRoom = (line: Line): boolean => this.#roomOf(line, othersWait) > 0;
      const [encode, inspect] = [this.#first(open.encode, hasRoom), this.#first(open.inspect, hasRoom)];
      const inTurn = encode && inspect && this.#isBefore(inspect, encode) ? inspect : (encode ?? inspect);
      const found = inTurn && (this.#overdue(all, hasRoom, now) ?? inTurn);
      if (found) return this.#matchOf(found, othersWait, all);
    }
    return null;
  }

  /**
   * Whether an inspection comes before an encode, whose slot it would take, too: what has begun comes first, unless its
   * source would be fetched again.
   */
  #isBefore(inspect: Candidate, encode: Candidate): boolean {
    if (inspect.line.band !== encode.line.band) return inspect.line.band > encode.line.band;
    const ticket = encode.line.entries.peek()?.ticket;
    const source = ticket?.prefer == null ? null : this.#roster.accepter(ticket.prefer);
    return ticket !== undefined && source !== null && this.#candidates.nodeFor(encode, ticket) !== source;
  }

  #matchOf(found: Candidate, othersWait: boolean, open: readonly Open[]): Match<Node> {
    this.#matches += 1;
    const { line, group } = found;
    const ticket = line.entries.peek()?.ticket;
    const node = ticket && this.#candidates.nodeFor(found, ticket);
    if (!node) throw new Error(`No node for ${group.key}`);
    const hasSource = node.nodeId === ticket.prefer;
    const free = hasSource
      ? this.#roster.freeForSources(node, group.slotClass)
      : this.#roster.freeOf(node, group.slotClass);
    const wanted = Math.min(ticket.count, free);
    const room = this.#roomOf(line, othersWait);
    const isShared = !othersWait || wanted <= room || this.#othersWait(line, open);
    return { ticket, node, slots: Math.min(wanted, isShared ? room : this.#roomOf(line, false)) };
  }

  /** Whether tickets of a class wait that a node may take when it has a slot. */
  hasWaiting(slotClass: SlotClass, node: Node): boolean {
    const groups = [...this.#waiting.groupsFor(node.nodeId, slotClass)];
    return groups.some((group) => !group.isParked && this.#candidates.fits(group, node));
  }

  /** The groups that have tickets and a node with a free slot for them. */
  #openGroups(slotClass: SlotClass): Open[] {
    return [...this.#waiting.groups(slotClass)].flatMap((group) => this.#candidates.openOf(group, slotClass) ?? []);
  }

  #first(open: readonly Open[], accepts: (line: Line) => boolean): Candidate | null {
    let first: Candidate | null = null;
    for (const one of open) {
      const line = one.group.first(accepts);
      if (line && (!first || isLineBefore(line, first.line))) first = { ...one, line };
    }
    return first;
  }

  /**
   * For one in some matches: an account that was not served for long. Turns alone would starve it while new accounts
   * come faster than they are served.
   */
  #overdue(open: readonly Open[], accepts: (line: Line) => boolean, now: number): Candidate | null {
    if (this.#matches % MATCHES_PER_OVERDUE !== 0) return null;
    let oldest: Candidate | null = null;
    for (const one of open) {
      const line = one.group.oldest(accepts);
      if (line && (!oldest || waitsSince(line) < waitsSince(oldest.line))) oldest = { ...one, line };
    }
    return oldest && waitsSince(oldest.line) <= now - OVERDUE_MS ? oldest : null;
  }

  /** Whether another account has a ticket in the same pool that fits a node now. */
  #othersWait({ account, group }: Line, open: readonly Open[]): boolean {
    const { pool } = group.requirements;
    const isOther = (line: Line): boolean => line.account !== account && quotaOf(line.account, this.#roster) > 0;
    return open.some(({ group: other }) => other.requirements.pool === pool && other.first(isOther) !== null);
  }

  /** How many more slots a line's account may use. */
  #roomOf(line: Line, othersWait: boolean): number {
    return roomOf(line, this.#roster, { ...this.#config, othersWait });
  }
}
