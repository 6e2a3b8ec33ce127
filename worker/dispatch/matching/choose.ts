// Chooses which node gets which ticket next. Pure, except that it caches ranks.
import type { Profile } from "#shared/protocol/requirements.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import type { Kind } from "./kinds.ts";
import { ABOVE_USUAL, type Group, isLineBefore, type Line, waitsSince } from "./lines.ts";
import { rankOf } from "./ranks.ts";
import type { ConnectedNode, Roster } from "./roster.ts";
import type { Ticket } from "./tickets.ts";
import type { Waiting } from "./waiting.ts";

/** A ticket, the node that gets it, and for how many of its slots. */
export type Match<Node> = { readonly ticket: Ticket; readonly node: Node; readonly slots: number };

/** Settings of the operator. */
export type MatchingConfig = {
  /** The share of a pool's slots that is kept for work of a priority above the usual, 0 to 1. */
  readonly reservedShare: number;
};

/** One in this many inspect slots is kept for other accounts. */
const KEPT_SHARE = 8;

/**
 * How many of all slots of a class an account may use. While another account has a ticket that fits: half of them.
 * Otherwise all, except some inspect slots, which mostly wait for the network: without them another account would wait
 * as long as the slowest source takes. Keeping an encode slot free would waste a machine.
 */
export const shareOf = (slotClass: SlotClass, slots: number, othersWait: boolean): number =>
  othersWait
    ? Math.max(1, Math.ceil(slots / 2))
    : slots - (slotClass === "inspect" ? Math.floor(slots / KEPT_SHARE) : 0);

/** A group with a free slot for its tickets, and the nodes that they avoid. */
type Open = { readonly group: Group; readonly avoided: readonly string[] };

type Candidate = Open & { readonly line: Line };

/** While accounts were not served for OVERDUE_MS, one in this many matches is for them. */
const MATCHES_PER_OVERDUE = 16;
const OVERDUE_MS = 60 * 60_000;

export class Chooser<Node extends ConnectedNode> {
  readonly #roster: Roster<Node>;
  readonly #waiting: Waiting<Node>;
  readonly #config: MatchingConfig;
  /** By requirements and preferences: the kinds of nodes that may do such work, the best first. */
  readonly #ranked = new Map<string, { readonly rank: number; readonly kind: Kind<Node> }[]>();
  #version = -1;
  #matches = 0;

  constructor(roster: Roster<Node>, waiting: Waiting<Node>, config: MatchingConfig) {
    this.#roster = roster;
    this.#waiting = waiting;
    this.#config = config;
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
    return ticket !== undefined && source !== null && this.#nodeFor(encode, ticket) !== source;
  }

  #matchOf(found: Candidate, othersWait: boolean, open: readonly Open[]): Match<Node> {
    this.#matches += 1;
    const { line, group } = found;
    const ticket = line.entries.peek()?.ticket;
    const node = ticket && this.#nodeFor(found, ticket);
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
    const kind = this.#roster.kinds.of(node);
    const fits = (group: Group): boolean => this.#kindsOf(group).some((of) => of.kind === kind);
    const groups = [...this.#waiting.groupsFor(node.nodeId, slotClass)];
    return groups.some((group) => !group.isParked && (group.nodeId !== null || fits(group)));
  }

  /** The groups that have tickets and a node with a free slot for them. */
  #openGroups(slotClass: SlotClass): Open[] {
    const open: Open[] = [];
    for (const group of this.#waiting.groups(slotClass)) {
      if (group.nodeId !== null) open.push({ group, avoided: [] });
      else {
        const avoided = this.#avoidedOf(group);
        const isFree = this.#kindsOf(group).some(({ kind }) => this.#hasFree(kind, slotClass, avoided));
        if (isFree) open.push({ group, avoided });
      }
    }
    return open;
  }

  #hasFree(kind: Kind<Node>, slotClass: SlotClass, avoided: readonly string[]): boolean {
    const free = kind.nodesWithFree[slotClass];
    return free > avoided.length || (free > 0 && kind.mostFree(slotClass, avoided) !== null);
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
    const isOther = (line: Line): boolean => line.account !== account && this.#mayRun(line) > 0;
    return open.some(({ group: other }) => other.requirements.pool === pool && other.first(isOther) !== null);
  }

  /** How many more slots a line's account may use, by its share, its quota, and what is reserved. */
  #roomOf(line: Line, othersWait: boolean): number {
    const { account, group, band } = line;
    const { requirements, slotClass, nodeId } = group;
    const { pool } = requirements;
    const held = (of: SlotClass): number => this.#roster.held(pool, of, account.id);
    const share = shareOf(slotClass, this.#roster.slots(pool, slotClass), othersWait) - held(slotClass);
    // Each inspection holds an encode slot.
    const encodes = this.#roster.slots(pool, "encode");
    const encodeShare =
      encodes === 0 ? Infinity : shareOf("encode", encodes, othersWait) - held("encode") - held("inspect");
    const ofClass = slotClass === "inspect" ? Math.min(share, encodeShare) : share;
    const reserved = band < ABOVE_USUAL && nodeId === null ? Math.floor(encodes * this.#config.reservedShare) : 0;
    const unreserved = reserved === 0 ? Infinity : this.#roster.free(pool, "encode") - reserved;
    return Math.min(ofClass, unreserved, this.#mayRun(line));
  }

  #mayRun({ account: { id, maxRunning } }: Line): number {
    return maxRunning === null ? Infinity : maxRunning - this.#roster.tasksOf(id);
  }

  /** The nodes that a group avoids, unless no other node could do its work. */
  #avoidedOf(group: Group): readonly string[] {
    if (group.avoid.length === 0) return [];
    const kinds = this.#kindsOf(group);
    const fits = new Set(kinds.map(({ kind }) => kind.key));
    const avoided = group.avoid.filter((nodeId) => {
      const node = this.#roster.accepter(nodeId);
      return node !== null && fits.has(this.#roster.kinds.of(node).key);
    });
    return avoided.length < kinds.reduce((sum, { kind }) => sum + kind.accepting, 0) ? avoided : [];
  }

  /** The node that has the source, if it has a free slot; else of the best kinds the one with the most free slots. */
  #nodeFor({ group, avoided }: Open, { prefer, slotClass }: Ticket): Node | null {
    if (group.nodeId !== null) return this.#roster.accepter(group.nodeId);
    const kinds = this.#kindsOf(group);
    const preferred = prefer === null || avoided.includes(prefer) ? null : this.#roster.accepter(prefer);
    if (preferred && this.#roster.freeForSources(preferred, slotClass) > 0) {
      const kind = this.#roster.kinds.of(preferred);
      if (kinds.some((ranked) => ranked.kind === kind)) return preferred;
    }
    let best: { readonly node: Node; readonly level: number; readonly rank: number } | null = null;
    for (const { rank, kind } of kinds) {
      if (best && rank > best.rank) break;
      const most = kind.mostFree(slotClass, avoided);
      if (most && (!best || most.level > best.level)) best = { ...most, rank };
    }
    return best?.node ?? null;
  }

  #kindsOf({ requirements, preferences, key }: Group): readonly { readonly rank: number; readonly kind: Kind<Node> }[] {
    if (this.#version !== this.#roster.kinds.version) this.#ranked.clear();
    this.#version = this.#roster.kinds.version;
    const known = this.#ranked.get(key);
    if (known) return known;
    const rank = (profile: Profile): number | null => rankOf(requirements, preferences, profile);
    const ranked = [...this.#roster.kinds.values()].flatMap((kind) => {
      const of = rank(kind.profile);
      return of === null ? [] : [{ rank: of, kind }];
    });
    ranked.sort((one, other) => one.rank - other.rank);
    if (this.#ranked.size >= MAX_RANKED) this.#ranked.clear();
    this.#ranked.set(key, ranked);
    return ranked;
  }
}

/** Requirements whose ranks are remembered: far more than a fleet has at a time. */
const MAX_RANKED = 10_000;
