// Matches the jobs' tickets with the free slots of nodes: (state, event, now) → matches, writes, and when to look
// again. Sockets, storage, calls and alarms are the hub's; so is adding, changing and removing nodes of the roster.
import type { TaskOutcome } from "#shared/protocol/frames.ts";
import type { Requirements } from "#shared/protocol/requirements.ts";
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
import type { TicketOffer } from "../../rpc/hub.ts";
import { Accounts } from "./accounts.ts";
import { Chooser, type Match, type MatchingConfig } from "./choose.ts";
import { Health } from "./health.ts";
import { HOLD_MS } from "./held-slots.ts";
import type { StoredKind } from "./kinds.ts";
import { missingOf } from "./ranks.ts";
import { type ConnectedNode, holding, type Roster, type Running } from "./roster.ts";
import { TaskTimes } from "./task-times.ts";
import { fingerprint, type Ticket, ticketKey } from "./tickets.ts";
import { Waiting } from "./waiting.ts";

/** How long a ticket waits after its job was not reachable. */
const CLAIM_RETRY_MS = 1000;
/** The minimum interval between sweeps of what is old. */
const SWEEP_EVERY_MS = 15_000;

export const DEFAULT_CONFIG: MatchingConfig = { reservedShare: 0 };

export type Claimed = readonly { readonly lease: string; readonly slotClass: SlotClass }[];

export type MatchingEvent<Node> =
  /** A job advertises. */
  | { readonly kind: "advertise"; readonly offers: readonly TicketOffer[] }
  /** The job of a match was called for tasks; null: it was not reachable. */
  | { readonly kind: "claimed"; readonly match: Match<Node>; readonly claimed: Claimed | null }
  /** Nodes of the roster were added, changed or removed, or time has passed. */
  | { readonly kind: "look" };

/** What the hub stores. */
export type Write = readonly [key: string, value: Ticket | StoredKind | null];

export type Step<Node> = {
  /** Each to be claimed from its job: the slots are taken already. */
  readonly matches: readonly Match<Node>[];
  /** Nodes of the roster that have changed. */
  readonly changed: readonly Node[];
  readonly writes: readonly Write[];
  /** When to look again, in ms since 1970; null: only at the next event. */
  readonly wakeAt: number | null;
};

const TICKETS = "ticket:";
const KINDS = "profile:";
export const STORED_PREFIXES = { tickets: TICKETS, kinds: KINDS } as const;

export type Demand = {
  readonly pool: string;
  readonly slotClass: SlotClass;
  /** Tasks that wait, and tasks that run. */
  readonly waiting: number;
  readonly running: number;
  /** How long the oldest has waited; ms. */
  readonly oldestMs: number;
  /** The average time of a task; seconds. */
  readonly meanS: number;
};

type MutableDemand = { -readonly [Field in keyof Demand]: Demand[Field] };

export class Matching<Node extends ConnectedNode> {
  readonly roster: Roster<Node>;
  readonly health = new Health();
  readonly times = new TaskTimes();
  /** How tasks have ended whose nodes are about to release them. */
  readonly #outcomes = new Map<string, TaskOutcome>();
  /** The nodes that the operator has cordoned. */
  readonly #cordoned = new Set<string>();
  readonly #accounts = new Accounts();
  readonly #waiting: Waiting<Node>;
  readonly #chooser: Chooser<Node>;
  /** When the lease of each connected node began, and what its account was charged for it. */
  readonly #charges = new Map<string, { readonly at: number; readonly chargedS: number }>();
  /** What the accounts of matches were charged for each slot, until their jobs have claimed them; seconds. */
  readonly #pending = new Map<Match<Node>, number>();
  /** Since when inspections have held an encode slot. */
  #holds = new Map<string, number>();
  #sweptAt = 0;

  constructor(roster: Roster<Node>, config: MatchingConfig = DEFAULT_CONFIG) {
    this.roster = roster;
    this.#waiting = new Waiting(roster, this.#accounts);
    this.#chooser = new Chooser(roster, this.#waiting, config);
  }

  /** Adds what the hub has stored. */
  restore(tickets: Iterable<Ticket>, kinds: Iterable<StoredKind>, now: number): void {
    // Until their nodes are back, the profiles of nodes that were connected count as seen now.
    for (const { profile, isConnected, seenAt } of kinds) {
      this.roster.kinds.restore({ profile, seenAt: isConnected ? now : seenAt });
    }
    for (const ticket of tickets) this.#waiting.restore(ticket, now);
  }

  /** The number of tickets. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Whether tasks wait that a node could do in the slot of a task of this class. An inspection holds an encode slot.
   */
  hasWaiting(slotClass: SlotClass, node: Node): boolean {
    return (
      this.#chooser.hasWaiting("encode", node) || (slotClass === "inspect" && this.#chooser.hasWaiting("inspect", node))
    );
  }

  /** What no node of the last ten minutes has for these requirements; null: some node does. */
  missing(requirements: Requirements, now: number): string | null {
    return missingOf(requirements, this.roster.kinds.seen(now));
  }

  /**
   * The waiting and running tasks by pool and class. Looks at all tickets and leases. `counts` leaves out the tickets
   * of jobs that another hub counts.
   */
  demand(now: number, counts: (pool: string, jobId: string) => boolean = () => true): Demand[] {
    const pools = new Map<string, Record<SlotClass, MutableDemand>>();
    const of = (pool: string): Record<SlotClass, MutableDemand> => {
      const known = pools.get(pool);
      if (known) return known;
      const made = { inspect: this.#noDemand(pool, "inspect"), encode: this.#noDemand(pool, "encode") };
      pools.set(pool, made);
      return made;
    };
    for (const pool of this.roster.kinds.pools()) of(pool);
    for (const { requirements, jobId, slotClass, count, waitingSince } of this.#waiting.values()) {
      const queues = of(requirements.pool);
      if (!counts(requirements.pool, jobId)) continue;
      for (const taken of slotsOf({ slotClass })) {
        const queue = queues[taken];
        queue.waiting += count;
        queue.oldestMs = Math.max(queue.oldestMs, now - waitingSince);
      }
    }
    for (const running of this.roster.running()) {
      const queues = of(this.roster.get(running.nodeId)?.profile.pool ?? "");
      for (const taken of slotsOf(running)) queues[taken].running += 1;
    }
    return [...pools.values()].flatMap(({ inspect, encode }) => [inspect, encode]);
  }

  /** How the tasks of these leases ended, which their node then releases from the roster. */
  ending(leases: readonly string[], outcome: TaskOutcome): void {
    for (const lease of leases) if (this.roster.holder(lease)) this.#outcomes.set(lease, outcome);
  }

  /** A node gets no more work, or gets work again, from the next step on; also while it is not connected. */
  cordon(nodeId: string, isCordoned: boolean, now: number): void {
    if (isCordoned) this.#cordoned.add(nodeId);
    else this.#cordoned.delete(nodeId);
    this.#limit(nodeId, now);
  }

  step(event: MatchingEvent<Node>, now: number): Step<Node> {
    const changed = new Set<Node>();
    if (event.kind === "advertise") this.#advertise(event.offers, now);
    if (event.kind === "claimed") this.#claimed(event.match, event.claimed, changed, now);
    this.#sweep(now);
    this.#waiting.advance(now);
    this.#takeChanges(now);
    const matches = this.#match(changed, now);
    return { matches, changed: [...changed], writes: this.#writes(now), wakeAt: this.#wakeAt(now) };
  }

  #advertise(offers: readonly TicketOffer[], now: number): void {
    for (const own of Map.groupBy(offers, ({ jobId, slotClass }) => `${slotClass} ${jobId}`).values()) {
      const [{ jobId, slotClass } = { jobId: "", slotClass: "encode" as const }] = own;
      this.#waiting.keepOnly(jobId, slotClass, new Set(own.map(ticketKey)));
    }
    for (const offer of offers) {
      for (const nodeId of offer.blamed) this.health.fault(nodeId, offer.jobId, now);
      for (const nodeId of offer.blamed) this.#limit(nodeId, now);
      this.#waiting.put({ ...offer, advertisedAt: now, notBefore: 0, waitingSince: 0, isCountOld: false }, now);
    }
  }

  #claimed(match: Match<Node>, claimed: Claimed | null, changed: Set<Node>, now: number): void {
    const { ticket, node, slots } = match;
    const { slotClass, accountId } = ticket;
    const account = this.#accounts.get(accountId);
    const chargedS = this.#pending.get(match) ?? 0;
    this.#pending.delete(match);
    const unused = slots - (claimed?.length ?? 0);
    this.roster.reserve(node, slotClass, accountId, -slots);
    if (this.roster.get(node.nodeId) === node) {
      for (const { lease } of claimed ?? []) this.#charges.set(lease, { at: now, chargedS });
    }
    for (const { lease } of claimed ?? []) this.times.started(lease);
    if (unused > 0) this.#accounts.refund(account, slotClass, unused * chargedS);
    this.#waiting.accountChanged(account);
    const free = node.draining ? node.free : { ...node.free, [slotClass]: node.free[slotClass] + unused };
    this.roster.change(node, { ...holding(node, claimed ?? [], ticket), free });
    changed.add(node);
    if (!claimed) this.#waiting.giveBack(ticket, slots, now + CLAIM_RETRY_MS, now);
    else this.#waiting.claimed(ticket, claimed.length);
  }

  /** Matches tickets with free slots until none fits. */
  #match(changed: Set<Node>, now: number): Match<Node>[] {
    const matches: Match<Node>[] = [];
    for (;;) {
      const match = this.#chooser.next(now);
      if (!match || match.slots < 1) break;
      matches.push(match);
      const { ticket, node, slots } = match;
      const { slotClass, accountId } = ticket;
      const account = this.#accounts.get(accountId);
      this.#waiting.take(ticket, slots);
      this.roster.change(node, { free: { ...node.free, [slotClass]: node.free[slotClass] - slots } });
      this.roster.reserve(node, slotClass, accountId, slots);
      this.#pending.set(match, this.#accounts.charge(account, slotClass, slots, now));
      this.#waiting.accountChanged(account);
      changed.add(node);
      this.#takeChanges(now);
    }
    this.#waiting.releaseHeld(now);
    return matches;
  }

  #takeChanges(now: number): void {
    for (;;) {
      const { nodes, accounts, ended } = this.roster.takeChanges();
      if (nodes.size + accounts.size + ended.length === 0) return;
      for (const running of ended) this.#ended(running, now);
      for (const nodeId of nodes) this.#waiting.nodeChanged(nodeId, now);
      for (const accountId of accounts) this.#waiting.accountChanged(this.#accounts.get(accountId));
    }
  }

  #ended({ lease, jobId, accountId, nodeId, slotClass }: Running, now: number): void {
    // The node has a new connection, and still works on it.
    if (this.roster.holder(lease)) return;
    const charge = this.#charges.get(lease);
    this.#charges.delete(lease);
    const end = this.roster.get(nodeId) === null ? "lost" : (this.#outcomes.get(lease) ?? "released");
    this.#outcomes.delete(lease);
    this.times.ended(lease, charge ? (now - charge.at) / 1000 : null, end);
    if (charge) {
      const account = this.#accounts.get(accountId);
      this.#accounts.settle(account, slotClass, (now - charge.at) / 1000, charge.chargedS);
      this.#waiting.accountChanged(account);
    }
    // A lost connection is no result.
    if (this.roster.get(nodeId)) this.health.ended(nodeId, jobId, now);
    this.#limit(nodeId, now);
  }

  #limit(nodeId: string, now: number): void {
    const allowance = this.#cordoned.has(nodeId) ? "none" : this.health.allowanceOf(nodeId, now);
    this.roster.limit(nodeId, allowance === "all" ? null : allowance === "one" ? 1 : 0);
  }

  /** Removes what is old. */
  #sweep(now: number): void {
    for (const nodeId of [...this.roster.limited()]) this.#limit(nodeId, now);
    if (now < this.#sweptAt + SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    this.#waiting.removeStale(now);
    this.#accounts.forgetIdle((accountId) => this.roster.tasksOf(accountId) > 0);
    this.#endHolds(now);
  }

  /** Slots are held for slow sources for some time only. */
  #endHolds(now: number): void {
    const inspections = [...this.roster.running()].filter(({ slotClass }) => slotClass === "inspect");
    this.#holds = new Map(inspections.map(({ lease }) => [lease, this.#holds.get(lease) ?? now]));
    for (const [lease, since] of this.#holds) if (since <= now - HOLD_MS) this.roster.endHold(lease);
  }

  #writes(now: number): Write[] {
    const tickets = this.#waiting.takeChanges().map(([key, value]): Write => [TICKETS + key, value]);
    const kinds = this.roster.kinds.takeChanges(now).map(([key, value]): Write => [KINDS + fingerprint(key), value]);
    const old = this.roster.kinds.forget(now).map((key): Write => [KINDS + fingerprint(key), null]);
    return [...tickets, ...kinds, ...old];
  }

  /** When the first ticket opens to more nodes while one of them may have a free slot, or a pause of a node ends. */
  #wakeAt(now: number): number | null {
    const opening = SLOT_CLASSES.flatMap((slotClass) =>
      this.#hasFree(slotClass) ? [this.#waiting.opensAt(slotClass)] : [],
    );
    const resuming = [...this.roster.limited()].flatMap((nodeId) => this.health.resumesAt(nodeId, now) ?? []);
    const holdsEnd = [...this.#holds.values()].map((since) => since + HOLD_MS).filter((at) => at > now);
    const at = Math.min(...opening, ...(this.#waiting.size > 0 ? [...resuming, ...holdsEnd] : []));
    return at === Infinity ? null : at;
  }

  #hasFree(slotClass: SlotClass): boolean {
    return [...this.roster.kinds.pools()].some((pool) => this.roster.free(pool, slotClass) > 0);
  }

  #noDemand(pool: string, slotClass: SlotClass): MutableDemand {
    return { pool, slotClass, waiting: 0, running: 0, oldestMs: 0, meanS: this.#accounts.meanS[slotClass] };
  }
}

/** The slots that a task takes: an inspection holds an encode slot for its job. */
const slotsOf = ({ slotClass }: { readonly slotClass: SlotClass }): readonly SlotClass[] =>
  slotClass === "inspect" ? SLOT_CLASSES : [slotClass];
