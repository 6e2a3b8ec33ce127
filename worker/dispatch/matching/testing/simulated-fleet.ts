// A fleet for tests of the matching: nodes and jobs in virtual time, driven by seeded random numbers.

import type { Profile, Requirements } from "#shared/protocol/requirements.ts";
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import type { TicketOffer } from "../../../rpc/hub.ts";
import type { Match } from "../choose.ts";
import { Matching, type MatchingEvent } from "../matching.ts";
import { addSlots, type ConnectedNode } from "../nodes/connected-node.ts";
import { Roster } from "../nodes/roster.ts";

export const PROFILE: Profile = {
  pool: "default",
  region: null,
  labels: [],
  spot: false,
  capabilities: { encoders: ["libx264"], muxers: [], filters: [], hardware: null },
};

export const nodeOf = (nodeId: string, free: SlotCounts, profile: Partial<Profile> = {}): ConnectedNode => ({
  nodeId,
  session: `s-${nodeId}`,
  profile: { ...PROFILE, ...profile },
  free,
  leases: {},
  accounts: {},
  draining: false,
  heardAt: 0,
});

/** Any node of the default pool. */
export const NO_REQUIREMENTS: Requirements = { pool: "default", labels: [], needs: [] };

/** `name`: at most 14 characters. Its first character is the account by default. */
export const offerOf = (name: string, changes: Partial<TicketOffer> = {}): TicketOffer => ({
  jobId: name.padEnd(14, "0"),
  accountId: name.slice(0, 1),
  slotClass: "encode",
  count: 1,
  since: 0,
  requirements: NO_REQUIREMENTS,
  prefer: null,
  preferUntil: 0,
  avoid: [],
  avoidUntil: 0,
  blamed: [],
  steady: false,
  priority: 0,
  weight: 1,
  maxRunning: null,
  maxPriority: null,
  ...changes,
});

/** A task that a node got. */
export type Assigned = { readonly offer: TicketOffer; readonly nodeId: string; readonly at: number };
type Running = Assigned & { readonly lease: string; readonly endsAt: number };
/** Handles a task that ends. `release` gives back its slot. */
type OnEnd = (task: Assigned, release: () => void) => void;

export class SimulatedFleet {
  readonly matching: Matching<ConnectedNode>;
  readonly roster = new Roster();
  readonly assigned: Assigned[] = [];
  readonly used = new Map<string, number>();
  now = 1_000_000;
  readonly #remaining = new Map<string, { readonly offer: TicketOffer; count: number }>();
  readonly #secondsOf: (offer: TicketOffer) => number;
  readonly #onEnd: OnEnd;
  readonly #running: Running[] = [];
  #leases = 0;
  wakeAt: number | null = null;

  constructor(
    secondsOf: (offer: TicketOffer) => number = () => 60,
    onEnd: OnEnd = (_, release) => {
      release();
    },
  ) {
    this.#onEnd = onEnd;
    this.matching = new Matching(this.roster);
    this.#secondsOf = secondsOf;
  }

  connect(...nodes: ConnectedNode[]): void {
    for (const node of nodes) this.roster.add(node);
    this.step({ kind: "look" });
  }

  advertise(...offers: TicketOffer[]): void {
    for (const offer of offers) this.#remaining.set(keyOf(offer), { offer, count: offer.count });
    this.step({ kind: "advertise", offers });
  }

  /** Runs a step and the claims of its matches. */
  step(event: MatchingEvent<ConnectedNode>): Match<ConnectedNode>[] {
    const { matches, wakeAt } = this.matching.step(event, this.now);
    this.wakeAt = wakeAt;
    for (const match of matches) this.#claim(match);
    return [...matches];
  }

  /** Advances to the next end of a task or opening of a ticket. Returns false if nothing is left. */
  advance(): boolean {
    const next = this.nextAt;
    if (next === Infinity) return false;
    this.now = Math.max(this.now, next);
    for (const task of this.#running.filter(({ endsAt }) => endsAt <= this.now)) {
      this.#running.splice(this.#running.indexOf(task), 1);
      this.#onEnd(task, () => this.#release(task));
    }
    this.step({ kind: "look" });
    return true;
  }

  /** Time of the next end of a task or opening of a ticket; Infinity: never. */
  get nextAt(): number {
    return Math.min(...this.#running.map(({ endsAt }) => endsAt), this.wakeAt ?? Infinity);
  }

  waiting(): TicketOffer[] {
    return [...this.#remaining.values()].filter(({ count }) => count > 0).map(({ offer }) => offer);
  }

  #claim(match: Match<ConnectedNode>): void {
    const { ticket, node, slots } = match;
    const remaining = this.#remaining.get(keyOf(ticket));
    const count = Math.min(slots, remaining?.count ?? 0);
    if (remaining) remaining.count -= count;
    const leases = Array.from({ length: count }, () => {
      const lease = `${ticket.jobId}.encode-${++this.#leases}.1`;
      const seconds = this.#secondsOf(ticket);
      this.used.set(ticket.accountId, (this.used.get(ticket.accountId) ?? 0) + seconds);
      const endsAt = this.now + seconds * 1000;
      const task = { offer: ticket, nodeId: node.nodeId, at: this.now };
      this.#running.push({ ...task, lease, endsAt });
      this.assigned.push(task);
      return { lease, slotClass: ticket.slotClass };
    });
    this.step({ kind: "claimed", match, claimed: leases });
  }

  #release({ lease, nodeId }: Running): void {
    const node = this.roster.get(nodeId);
    if (!node) return;
    const { [lease]: slotClass = "encode", ...leases } = node.leases;
    const offered = { inspect: 0, encode: 0, [slotClass]: 1 };
    this.roster.change(node, { leases, free: addSlots({ free: node.free, leases }, offered) });
  }
}

const keyOf = ({ jobId, slotClass }: { jobId: string; slotClass: SlotClass }): string => `${jobId} ${slotClass}`;
