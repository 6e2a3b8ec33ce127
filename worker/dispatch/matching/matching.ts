// Matches the jobs' tickets with free slots of nodes: (state, event, now) → matches, writes, and the time of the next
// look. The hub does everything else: sockets, storage, calls, alarms, and changes of the roster's nodes.
import type { Requirements } from "#shared/protocol/requirements.ts";
import type { TicketOffer } from "../../rpc/hub.ts";
import type { Place } from "../../rpc/hub-reports.ts";
import { Charges } from "./charges.ts";
import { type Choice, Chooser, type Match } from "./choose.ts";
import { type Demand, type DemandSource, demandOf } from "./demand.ts";
import { EndedTasks } from "./ended-tasks.ts";
import { type ConnectedNode, holding } from "./nodes/connected-node.ts";
import { NodeLimits } from "./nodes/node-limits.ts";
import type { StoredKind } from "./nodes/node-profiles.ts";
import type { Roster } from "./nodes/roster.ts";
import { SourceHolds } from "./nodes/source-holds.ts";
import { placeOf } from "./place.ts";
import { missingOf } from "./ranks.ts";
import { type Claimed, type MatchingEvent, STORED_PREFIXES, type Step, type Write } from "./steps.ts";
import { Accounts } from "./waiting/accounts.ts";
import { Waiting } from "./waiting/ticket-queue.ts";
import { fingerprint, type Ticket, ticketKey } from "./waiting/tickets.ts";

/** Delay of a ticket after its job was not reachable. */
const CLAIM_RETRY_MS = 1000;
/** Minimum interval between removals of old data. */
const SWEEP_EVERY_MS = 15_000;

export class Matching<Node extends ConnectedNode> {
  readonly roster: Roster<Node>;
  readonly limits: NodeLimits;
  readonly tasks: EndedTasks;
  readonly #accounts = new Accounts();
  readonly #waiting: Waiting;
  readonly #chooser: Chooser<Node>;
  readonly #charges: Charges;
  readonly #holds = new SourceHolds();
  #sweptAt = 0;

  constructor(roster: Roster<Node>) {
    this.roster = roster;
    this.limits = new NodeLimits(roster);
    this.#waiting = new Waiting(roster, this.#accounts);
    this.#charges = new Charges(this.#accounts);
    this.tasks = new EndedTasks({ roster, charges: this.#charges, limits: this.limits });
    this.#chooser = new Chooser(roster, this.#waiting);
  }

  /** Adds the tickets and kinds that the hub has stored. */
  restore(tickets: Iterable<Ticket>, kinds: Iterable<StoredKind>, now: number): void {
    // Nodes may still return: the profiles of previously connected nodes count as seen now.
    for (const { profile, isConnected, seenAt } of kinds) {
      this.roster.kinds.restore({ profile, isConnected, seenAt: isConnected ? now : seenAt });
    }
    for (const ticket of tickets) this.#waiting.restore(ticket, now);
  }

  /** The number of tickets. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Names requirements that no node of the last ten minutes meets; null: some node meets them. */
  missing(requirements: Requirements, now: number): string | null {
    return missingOf(requirements, this.roster.kinds.seen(now));
  }

  /** The waiting and running tasks. */
  demand(now: number): Demand[] {
    return demandOf(this.#source, now);
  }

  /** The place of a job's work; null: the job has no waiting task. */
  place(jobId: string, now: number): Place | null {
    return placeOf(jobId, this.#source, now);
  }

  get #source(): DemandSource {
    const tickets = [...this.#waiting.values()].map(({ ticket }) => ticket);
    return { roster: this.roster, tickets, meanS: this.#accounts.meanS };
  }

  step(event: MatchingEvent<Node>, now: number): Step<Node> {
    const changed = new Set<Node>();
    if (event.kind === "advertise") this.#advertise(event.offers, now);
    if (event.kind === "claimed") this.#claimed(event.match, event.claimed, changed, now);
    this.#sweep(now);
    this.#takeEnded(now);
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
      this.#waiting.put({ ...offer, advertisedAt: now, notBefore: 0, waitingSince: 0, isCountOld: false }, now);
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
    const free = node.draining ? node.free : { ...node.free, [slotClass]: node.free[slotClass] + unused };
    this.roster.change(node, { ...holding(node, claimed ?? [], ticket), free });
    changed.add(node);
    if (!claimed) this.#waiting.giveBack(ticket, slots, now + CLAIM_RETRY_MS, now);
    else this.#waiting.claimed(ticket, leases.length);
  }

  /** Matches tickets with free slots until none fits. */
  #match(changed: Set<Node>, now: number): Match<Node>[] {
    const matches: Match<Node>[] = [];
    for (let choice = this.#chooser.next(now); choice && choice.slots > 0; choice = this.#chooser.next(now)) {
      matches.push(this.#matched(choice, now));
      changed.add(choice.node);
    }
    return matches;
  }

  /** Takes the slots of a choice. */
  #matched({ entry, node, slots }: Choice<Node>, now: number): Match<Node> {
    const match = { ticket: entry.ticket, node, slots };
    const { slotClass, accountId } = entry.ticket;
    this.#waiting.take(entry, slots);
    this.roster.change(node, { free: { ...node.free, [slotClass]: node.free[slotClass] - slots } });
    this.roster.reserve(node, slotClass, accountId, slots);
    this.#charges.matched(match, now);
    return match;
  }

  #takeEnded(now: number): void {
    for (const running of this.roster.takeEnded()) this.tasks.ended(running, now);
  }

  /** Removes old data. */
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

  /**
   * Time of the earliest event: a ticket opens to more nodes while a slot may be free, or a node's pause or a hold
   * ends.
   */
  #wakeAt(now: number): number | null {
    if (this.#waiting.size === 0) return null;
    const later = [...this.limits.resumeTimes(now), this.#holds.nextEndAt(now)];
    const at = Math.min(this.#chooser.opensAt(now), ...later);
    return at === Infinity ? null : at;
  }
}
