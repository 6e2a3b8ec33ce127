// Matches the jobs' tickets with the free slots of nodes: (state, event, now) → matches, writes, and when to look
// again. Sockets, storage, calls and alarms are the hub's; so is adding, changing and removing nodes of the roster.
import type { Requirements } from "#shared/protocol/requirements.ts";
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
import type { Capacity, LentTicket, TicketOffer } from "../../rpc/hub.ts";
import { Charges } from "./charges.ts";
import { Chooser, type Match } from "./choose.ts";
import { type Demand, demandOf } from "./demand.ts";
import { EndedTasks } from "./ended-tasks.ts";
import { capacityOf, hasLendable, lend } from "./lending.ts";
import { type ConnectedNode, holding } from "./nodes/connected-node.ts";
import type { StoredKind } from "./nodes/kinds.ts";
import { NodeLimits } from "./nodes/node-limits.ts";
import type { Roster } from "./nodes/roster.ts";
import { SourceHolds } from "./nodes/source-holds.ts";
import { missingOf } from "./ranks.ts";
import { DEFAULT_CONFIG, type MatchingConfig } from "./shares.ts";
import { type Claimed, type MatchingEvent, STORED_PREFIXES, type Step, type Write } from "./steps.ts";
import { Accounts } from "./waiting/accounts.ts";
import { fingerprint, type Ticket, ticketKey } from "./waiting/tickets.ts";
import { Waiting } from "./waiting/waiting.ts";

/** How long a ticket waits after its job was not reachable. */
const CLAIM_RETRY_MS = 1000;
/** The minimum interval between sweeps of what is old. */
const SWEEP_EVERY_MS = 15_000;

export class Matching<Node extends ConnectedNode> {
  readonly roster: Roster<Node>;
  readonly limits: NodeLimits;
  readonly tasks: EndedTasks;
  readonly #accounts = new Accounts();
  readonly #waiting: Waiting<Node>;
  readonly #chooser: Chooser<Node>;
  readonly #charges: Charges;
  readonly #holds = new SourceHolds();
  readonly #config: MatchingConfig;
  #sweptAt = 0;

  constructor(roster: Roster<Node>, config: MatchingConfig = DEFAULT_CONFIG) {
    this.roster = roster;
    this.#config = config;
    this.limits = new NodeLimits(roster);
    this.#waiting = new Waiting(roster, this.#accounts);
    this.#charges = new Charges(this.#accounts);
    this.tasks = new EndedTasks({ roster, charges: this.#charges, limits: this.limits });
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

  /** The waiting and running tasks. `counts` leaves out the tickets of jobs that another hub counts. */
  demand(now: number, counts: (pool: string, jobId: string) => boolean = () => true): Demand[] {
    const { meanS } = this.#accounts;
    return demandOf({ roster: this.roster, tickets: this.#waiting.values(), meanS }, now, counts);
  }

  /** The slots that no ticket could use in the last step, except reserved ones. */
  capacity(): Capacity[] {
    const { reservedShare } = this.#config;
    const isReserved = (pool: string): boolean =>
      this.roster.free(pool, "encode") <= Math.floor(this.roster.slots(pool, "encode") * reservedShare);
    return capacityOf(this.roster).filter(({ profile }) => reservedShare === 0 || !isReserved(profile.pool));
  }

  /** Whether tickets wait that another hub may take. */
  get hasLendable(): boolean {
    return hasLendable(this.#waiting);
  }

  /** Takes tickets for the slots of another hub. */
  lend(capacity: readonly Capacity[], now: number): { readonly tickets: Ticket[]; readonly writes: Write[] } {
    const tickets = lend(capacity, { waiting: this.#waiting, accounts: this.#accounts, roster: this.roster }, now);
    return { tickets, writes: this.#writes(now) };
  }

  step(event: MatchingEvent<Node>, now: number): Step<Node> {
    const changed = new Set<Node>();
    if (event.kind === "advertise") this.#advertise(event.offers, now);
    if (event.kind === "borrowed") this.#borrow(event.tickets, now);
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
      this.limits.blame(offer.blamed, offer.jobId, now);
      this.#waiting.put({ ...offer, advertisedAt: now, waitingSince: 0, isCountOld: false }, now);
    }
  }

  #borrow(tickets: readonly LentTicket[], now: number): void {
    for (const ticket of tickets) {
      const count = ticket.count + (this.#waiting.get(ticketKey(ticket))?.count ?? 0);
      this.#waiting.put({ ...ticket, count, advertisedAt: now, notBefore: 0 }, now);
    }
  }

  #claimed(match: Match<Node>, claimed: Claimed | null, changed: Set<Node>, now: number): void {
    const { ticket, node, slots } = match;
    const { slotClass, accountId } = ticket;
    const leases = (claimed ?? []).map(({ lease }) => lease);
    const unused = slots - leases.length;
    this.roster.reserve(node, slotClass, accountId, -slots);
    this.#charges.claimed(match, leases, this.roster.get(node.nodeId) === node, now);
    this.tasks.started(leases);
    this.#waiting.accountChanged(this.#accounts.get(accountId));
    const free = node.draining ? node.free : { ...node.free, [slotClass]: node.free[slotClass] + unused };
    this.roster.change(node, { ...holding(node, claimed ?? [], ticket), free });
    changed.add(node);
    if (!claimed) this.#waiting.giveBack(ticket, slots, now + CLAIM_RETRY_MS, now);
    else this.#waiting.claimed(ticket, leases.length);
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
      this.#waiting.take(ticket, slots);
      this.roster.change(node, { free: { ...node.free, [slotClass]: node.free[slotClass] - slots } });
      this.roster.reserve(node, slotClass, accountId, slots);
      this.#charges.matched(match, now);
      this.#waiting.accountChanged(this.#accounts.get(accountId));
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
      for (const running of ended) {
        if (this.tasks.ended(running, now)) this.#waiting.accountChanged(this.#accounts.get(running.accountId));
      }
      for (const nodeId of nodes) this.#waiting.nodeChanged(nodeId, now);
      for (const accountId of accounts) this.#waiting.accountChanged(this.#accounts.get(accountId));
    }
  }

  /** Removes what is old. */
  #sweep(now: number): void {
    this.limits.refresh(now);
    if (now < this.#sweptAt + SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    this.#waiting.removeStale(now);
    this.#accounts.forgetIdle((accountId) => this.roster.tasksOf(accountId) > 0);
    this.#holds.refresh(this.roster, now);
  }

  #writes(now: number): Write[] {
    const { kinds } = this.roster;
    const rowOf = (key: string): string => STORED_PREFIXES.kinds + fingerprint(key);
    return [
      ...this.#waiting.takeChanges().map(([key, value]): Write => [STORED_PREFIXES.tickets + key, value]),
      ...kinds.takeChanges(now).map(([key, value]): Write => [rowOf(key), value]),
      ...kinds.forget(now).map((key): Write => [rowOf(key), null]),
    ];
  }

  /** When the first ticket opens to more nodes while one of them may have a free slot, or a pause of a node ends. */
  #wakeAt(now: number): number | null {
    const opening = SLOT_CLASSES.flatMap((slotClass) =>
      this.#hasFree(slotClass) ? [this.#waiting.opensAt(slotClass)] : [],
    );
    const later = this.#waiting.size > 0 ? [...this.limits.resumeTimes(now), this.#holds.nextEndAt(now)] : [];
    const at = Math.min(...opening, ...later);
    return at === Infinity ? null : at;
  }

  #hasFree(slotClass: SlotClass): boolean {
    return [...this.roster.kinds.pools()].some((pool) => this.roster.free(pool, slotClass) > 0);
  }
}
