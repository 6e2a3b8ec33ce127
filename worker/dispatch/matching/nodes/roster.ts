// The connected nodes, and the sums over them. The part of a node in the sums is derived from the node alone. A change
// of the node replaces its part.
import { parseLeaseId } from "#shared/ids.ts";
import { SLOT_CLASSES, type SlotClass, type SlotCounts } from "#shared/protocol/tasks.ts";
import { addTo, removeFrom } from "../sets.ts";
import { accountOf, type ConnectedNode, type HeldLeases } from "./connected-node.ts";
import { NodeProfiles, type ProfileNodes } from "./node-profiles.ts";
import { type Claim, type NodeRules, type NodeSlots, slotsOf } from "./node-slots.ts";
import { SlotSums } from "./slot-sums.ts";

/** Maximum time of a hold of an encode slot: a slower source does not keep a machine idle. */
export const HOLD_MS = 5 * 60_000;
const NO_SLOTS: SlotCounts = { inspect: 0, encode: 0 };

/** A lease that has left its node. */
export type EndedLease = {
  readonly lease: string;
  readonly jobId: string;
  readonly accountId: string;
  readonly nodeId: string;
  readonly slotClass: SlotClass;
};

type Member<Node> = {
  readonly node: Node;
  readonly claims: Set<Claim>;
  readonly profile: ProfileNodes<Node>;
  /** The node's part in the sums. */
  slots: NodeSlots;
};

export class Roster<Node extends ConnectedNode = ConnectedNode> {
  readonly profiles = new NodeProfiles<Node>();
  readonly sums = new SlotSums();
  readonly #members = new Map<string, Member<Node>>();
  readonly #holders = new Map<string, Node>();
  readonly #limits = new Map<string, NodeRules["limit"]>();
  /** End of each hold of an encode slot by an inspection, and the time of the last search for ended holds. */
  #holdsUntil: ReadonlyMap<string, number> = new Map();
  #searchedAt = 0;
  #ended: EndedLease[] = [];

  values(): Node[] {
    return [...this.#members.values()].map(({ node }) => node);
  }

  get(nodeId: string): Node | null {
    return this.#members.get(nodeId)?.node ?? null;
  }

  /** The node of this id, if it accepts work. */
  acceptingNode(nodeId: string): Node | null {
    const member = this.#members.get(nodeId);
    return member?.slots.accepts ? member.node : null;
  }

  /** The node that holds a lease. */
  holder(lease: string): Node | null {
    return this.#holders.get(lease) ?? null;
  }

  /** The number of a node's free slots of a class for any work. */
  freeOf(node: Node, slotClass: SlotClass): number {
    return this.#memberOf(node)?.slots.free[slotClass] ?? 0;
  }

  /** The number of a node's free slots for work whose source the node has, including the slots held for such work. */
  freeForSources(node: Node, slotClass: SlotClass): number {
    return this.#memberOf(node)?.slots.forSources[slotClass] ?? 0;
  }

  /** The slots that a node would offer if the hub lost its memory, and thus the running claims, now. */
  offeredBy(node: Node): SlotCounts {
    const offered = { ...node.free };
    for (const { ticket, slots } of this.#memberOf(node)?.claims ?? []) offered[ticket.slotClass] += slots;
    return offered;
  }

  /** Adds a node. The caller first removes an older node of the same id. */
  add(node: Node): void {
    const profile = this.profiles.connect(node.profile, 1);
    const slots = { accepts: false, free: NO_SLOTS, forSources: NO_SLOTS, uses: [] };
    const member = { node, profile, claims: new Set<Claim>(), slots };
    this.#members.set(node.nodeId, member);
    for (const lease of Object.keys(node.leases)) this.#holders.set(lease, node);
    this.#replacePart(member);
  }

  remove(node: Node): void {
    const member = this.#memberOf(node);
    if (!member) return;
    this.#members.delete(node.nodeId);
    this.#count(member, -1);
    this.#endLeases(node, {});
    this.profiles.connect(node.profile, -1);
  }

  /** Changes a node, even if it was removed. Its profile never changes. */
  change(node: Node, patch: Partial<ConnectedNode>): void {
    const member = this.#memberOf(node);
    if (member && patch.leases) {
      this.#endLeases(node, patch.leases);
      for (const lease of Object.keys(patch.leases)) this.#holders.set(lease, node);
    }
    Object.assign(node, patch);
    if (member) this.#replacePart(member);
  }

  /** Uses slots of a node for an account until the job of a match has claimed them. */
  reserve(node: Node, claim: Claim): void {
    this.#memberOf(node)?.claims.add(claim);
    const { ticket, slots } = claim;
    this.change(node, { free: { ...node.free, [ticket.slotClass]: node.free[ticket.slotClass] - slots } });
  }

  /** Ends a reservation, and changes its node. */
  claimed(node: Node, claim: Claim, patch: Partial<ConnectedNode>): void {
    this.#memberOf(node)?.claims.delete(claim);
    this.change(node, patch);
  }

  /** Limits the number of tasks that a node gets at a time, also while it is not connected; null: no limit. */
  limit(nodeId: string, limit: NodeRules["limit"]): void {
    if ((this.#limits.get(nodeId) ?? null) === limit) return;
    this.#limits.set(nodeId, limit);
    const member = this.#members.get(nodeId);
    if (member) this.#replacePart(member);
  }

  /** Ends the holds of encode slots that have lasted too long. Returns the time at which the next hold ends. */
  endHolds(now: number): number {
    const before = this.#holdsUntil;
    const holdsUntil = new Map<string, number>();
    this.#holdsUntil = holdsUntil;
    this.#searchedAt = now;
    let nextEnd = Infinity;
    for (const member of this.#members.values()) {
      for (const [lease, slotClass] of Object.entries(member.node.leases)) {
        if (slotClass !== "inspect") continue;
        const until = before.get(lease) ?? now + HOLD_MS;
        holdsUntil.set(lease, until);
        if (until <= now) this.#replacePart(member);
        else nextEnd = Math.min(nextEnd, until);
      }
    }
    return nextEnd;
  }

  /** The leases that have left their nodes since the last call. */
  takeEnded(): EndedLease[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  #memberOf(node: Node): Member<Node> | null {
    const member = this.#members.get(node.nodeId);
    return member?.node === node ? member : null;
  }

  /** Ends the leases of a node that are not among its next leases, unless a newer connection of the node has them. */
  #endLeases(node: Node, next: HeldLeases): void {
    for (const [lease, slotClass] of Object.entries(node.leases)) {
      if (Object.hasOwn(next, lease) || this.holder(lease) !== node) continue;
      this.#holders.delete(lease);
      const jobId = parseLeaseId(lease)?.job ?? "";
      this.#ended.push({ lease, jobId, accountId: accountOf(node, lease), nodeId: node.nodeId, slotClass });
    }
  }

  #replacePart(member: Member<Node>): void {
    this.#count(member, -1);
    const { node, claims } = member;
    const limit = this.#limits.get(node.nodeId) ?? null;
    const isHolding = (lease: string): boolean => (this.#holdsUntil.get(lease) ?? Infinity) > this.#searchedAt;
    member.slots = slotsOf(node, { claims, limit, isHolding });
    this.#count(member, 1);
  }

  /** Adds the part of a node to the sums (1), or subtracts it (-1). */
  #count({ node, profile, slots }: Member<Node>, sign: 1 | -1): void {
    this.sums.count(slots, node.profile.pool, sign);
    if (!slots.accepts) return;
    if (sign > 0) profile.accepting.add(node);
    else profile.accepting.delete(node);
    const update = sign > 0 ? addTo : removeFrom;
    for (const slotClass of SLOT_CLASSES) {
      if (slots.free[slotClass] > 0) update(profile.byFree[slotClass], slots.free[slotClass], node);
    }
  }
}
