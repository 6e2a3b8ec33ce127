// Matches the jobs' tickets with free slots of nodes: (state, event, now) → matches, writes, and the time of the next
// look. The hub does everything else: sockets, storage, calls, alarms, and changes of the roster's nodes.
import type { Requirements } from "#shared/protocol/requirements.ts";
import type { SlotClass } from "#shared/protocol/tasks.ts";
import { PREFERENCE_MS, type TicketOffer } from "../../rpc/hub.ts";
import type { Place } from "../../rpc/hub-reports.ts";
import { type Choice, Chooser, type Match } from "./choose.ts";
import { type Demand, type DemandSource, demandOf, placeOf } from "./demand.ts";
import { type ConnectedNode, holding } from "./nodes/connected-node.ts";
import { NodeLimits } from "./nodes/node-limits.ts";
import type { StoredProfile } from "./nodes/node-profiles.ts";
import type { Roster } from "./nodes/roster.ts";
import { missingOf } from "./ranks.ts";
import { STORED_PREFIXES, type Write } from "./stored-matching.ts";
import { Tasks } from "./tasks.ts";
import { Accounts } from "./waiting/accounts.ts";
import { TicketQueue } from "./waiting/ticket-queue.ts";
import { fingerprint, type Ticket, ticketKey } from "./waiting/tickets.ts";

export type Claimed = readonly { readonly lease: string; readonly slotClass: SlotClass }[];

export type MatchingEvent<Node> =
  /** A job advertises. */
  | { readonly kind: "advertise"; readonly offers: readonly TicketOffer[] }
  /** The result of an inspection goes to its job. */
  | { readonly kind: "inspected"; readonly lease: string }
  /** The job of a match was called for tasks; `claimed` is null if the job was not reachable. */
  | { readonly kind: "claimed"; readonly match: Match<Node>; readonly claimed: Claimed | null }
  /** Nodes of the roster were added, changed or removed, or time has passed. */
  | { readonly kind: "look" };

export type Step<Node> = {
  /** Matches to claim from their jobs. Their slots are already taken. */
  readonly matches: readonly Match<Node>[];
  /** Nodes of the roster that have changed. */
  readonly changed: readonly Node[];
  readonly writes: readonly Write[];
  /** Time of the next look, in ms since 1970; null: only at the next event. */
  readonly wakeAt: number | null;
};

/** Delay of a ticket after its job was not reachable. */
const CLAIM_RETRY_MS = 1000;
/** Minimum interval between removals of old data. */
const SWEEP_EVERY_MS = 15_000;

export class Matching<Node extends ConnectedNode> {
  readonly roster: Roster<Node>;
  readonly limits: NodeLimits;
  readonly tasks: Tasks;
  readonly #accounts = new Accounts();
  readonly #queue: TicketQueue;
  readonly #chooser: Chooser<Node>;
  /** The tickets of running inspections, by lease. */
  readonly #inspections = new Map<string, Ticket>();
  #sweptAt = 0;
  /** Times at which pauses of nodes and a hold of an encode slot end. */
  #endsAt = { pauses: [] as readonly number[], hold: Infinity };

  constructor(roster: Roster<Node>) {
    this.roster = roster;
    this.limits = new NodeLimits(roster);
    const accounts = this.#accounts;
    this.#queue = new TicketQueue(roster, accounts);
    this.tasks = new Tasks({ roster, accounts, limits: this.limits });
    this.#chooser = new Chooser({ roster, accounts, queue: this.#queue });
  }

  /** Adds the tickets and profiles that the hub has stored. */
  restore(tickets: Iterable<Ticket>, profiles: Iterable<StoredProfile>, now: number): void {
    // Nodes may still return: the profiles of previously connected nodes count as seen now.
    for (const { profile, isConnected, seenAt } of profiles) {
      this.roster.profiles.restore({ profile, isConnected, seenAt: isConnected ? now : seenAt });
    }
    for (const ticket of tickets) this.#queue.restore(ticket, now);
  }

  /** The number of tickets. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Names requirements that no node of the last ten minutes meets; null: some node meets them. */
  missing(requirements: Requirements, now: number): string | null {
    return missingOf(requirements, this.roster.profiles.seen(now));
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
    const tickets = [...this.#queue.values()].map(({ ticket }) => ticket);
    return { roster: this.roster, tickets, meanS: this.#accounts.meanS };
  }

  step(event: MatchingEvent<Node>, now: number): Step<Node> {
    const changed = new Set<Node>();
    if (event.kind === "advertise") this.#advertise(event.offers, now);
    if (event.kind === "inspected") this.#inspected(event.lease, now);
    if (event.kind === "claimed") {
      this.#claimed(event.match, event.claimed, now);
      changed.add(event.match.node);
    }
    this.#sweep(now);
    for (const ended of this.roster.takeEnded()) {
      this.#inspections.delete(ended.lease);
      this.tasks.ended(ended, now);
    }
    const matches: Match<Node>[] = [];
    for (let choice = this.#chooser.next(now); choice; choice = this.#chooser.next(now)) {
      matches.push(this.#matched(choice, now));
      changed.add(choice.node);
    }
    return { matches, changed: [...changed], writes: this.#writes(now), wakeAt: this.#wakeAt(now) };
  }

  #advertise(offers: readonly TicketOffer[], now: number): void {
    for (const sameJob of Map.groupBy(offers, ({ jobId, slotClass }) => `${slotClass} ${jobId}`).values()) {
      const [{ jobId, slotClass } = { jobId: "", slotClass: "encode" as const }] = sameJob;
      this.#queue.keepOnly(jobId, slotClass, new Set(sameJob.map(ticketKey)));
    }
    for (const offer of offers) {
      this.limits.blame(offer.blamed, offer.jobId, now);
      this.#queue.put({ ...offer, advertisedAt: now, notBefore: 0, waitingSince: 0, isCountOld: false }, now);
    }
  }

  /**
   * Advertises the encode of a job for the node that has inspected its source, if its slot is free. The claim goes to
   * the job together with the result of the inspection. The job advertises all tasks that remain.
   */
  #inspected(lease: string, now: number): void {
    const [ticket, node] = [this.#inspections.get(lease), this.roster.holder(lease)];
    if (!ticket || !node || this.roster.freeForSources(node, "encode") < 1) return;
    const source = { prefer: node.nodeId, preferUntil: now + PREFERENCE_MS };
    this.#advertise([{ ...ticket, ...source, slotClass: "encode", count: 1, blamed: [] }], now);
  }

  #claimed(match: Match<Node>, claimed: Claimed | null, now: number): void {
    const { ticket, node, slots } = match;
    const { slotClass } = ticket;
    const leases = (claimed ?? []).map(({ lease }) => lease);
    const isConnected = this.roster.get(node.nodeId) === node;
    for (const lease of slotClass === "inspect" && isConnected ? leases : []) this.#inspections.set(lease, ticket);
    this.tasks.started(leases, isConnected, now);
    const unused = node.draining ? 0 : slots - leases.length;
    const free = { ...node.free, [slotClass]: node.free[slotClass] + unused };
    this.roster.claimed(node, match, { ...holding(node, claimed ?? [], ticket), free });
    if (!claimed) this.#queue.giveBack(ticket, slots, now + CLAIM_RETRY_MS, now);
    else this.#queue.claimed(ticket, leases.length);
  }

  /** Takes the slots of a choice. */
  #matched({ entry, node, slots }: Choice<Node>, now: number): Match<Node> {
    const match = { ticket: entry.ticket, node, slots };
    this.#queue.pop(entry, slots);
    this.roster.reserve(node, match);
    this.#accounts.matched(entry.account, now);
    return match;
  }

  /** Ends pauses and holds, and removes old data. */
  #sweep(now: number): void {
    this.#endsAt.pauses = this.limits.endPauses(now);
    if (now < this.#sweptAt + SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    this.#queue.removeStale(now);
    this.#accounts.forgetIdle((account) => this.#queue.has(account) || this.roster.sums.tasksOf(account.id) > 0, now);
    this.#endsAt.hold = this.roster.endHolds(now);
  }

  #writes(now: number): Write[] {
    const rowOf = (key: string): string => STORED_PREFIXES.profiles + fingerprint(key);
    return [
      ...this.#queue.takeChanges().map(([key, value]): Write => [STORED_PREFIXES.tickets + key, value]),
      ...this.roster.profiles.takeChanges(now).map(([key, value]): Write => [rowOf(key), value]),
    ];
  }

  /**
   * Time of the earliest event: a ticket opens to more nodes while a slot may be free, or a node's pause or a hold
   * ends.
   */
  #wakeAt(now: number): number | null {
    if (this.#queue.size === 0) return null;
    const { pauses, hold } = this.#endsAt;
    const at = Math.min(this.#chooser.opensAt(now), ...pauses, hold > now ? hold : Infinity);
    return at === Infinity ? null : at;
  }
}
