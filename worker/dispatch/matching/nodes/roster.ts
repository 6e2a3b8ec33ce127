// The connected nodes, with indexes to find a node without iterating over all of them.
import { waitsForOthers } from "#shared/ids.ts";
import { SLOT_CLASSES, type SlotClass, type SlotCounts } from "#shared/protocol/tasks.ts";
import type { LeaseHolder, LeaseHolding } from "../../../rpc/hub.ts";
import type { ConnectedNode } from "./connected-node.ts";
import { Kinds, type Use } from "./node-profiles.ts";
import { type Limit, SlotRules } from "./node-slots.ts";
import { accountOf, type Running, RunningLeases } from "./running-leases.ts";

export class Roster<Node extends ConnectedNode = ConnectedNode> {
  readonly kinds = new Kinds<Node>();
  readonly #nodes = new Map<string, Node>();
  readonly #running = new RunningLeases<Node>();
  /** Number of tasks of each account on all nodes, including tasks of running claims. */
  readonly #tasks = new Map<string, number>();
  readonly #slots = new SlotRules();
  #ended: Running[] = [];

  /** The number of slots of a class, free or in use, of a pool's nodes that accept work. */
  slots(pool: string, slotClass: SlotClass): number {
    return this.kinds.pool(pool).slots[slotClass];
  }

  /** The number of free slots among these. */
  free(pool: string, slotClass: SlotClass): number {
    return this.kinds.pool(pool).free[slotClass];
  }

  /** The number of these slots that an account uses. */
  held(pool: string, use: Use, accountId: string): number {
    return this.kinds.pool(pool).held[use].get(accountId) ?? 0;
  }

  /** The number of an account's tasks on all nodes. */
  tasksOf(accountId: string): number {
    return this.#tasks.get(accountId) ?? 0;
  }

  /** Counts slots as used by an account until its job has claimed them. A negative count ends the reservation. */
  reserve({ nodeId, profile }: Node, slotClass: SlotClass, accountId: string, count: number): void {
    const node = this.get(nodeId);
    if (node) this.#unindex(node);
    this.#slots.claim(nodeId, slotClass, count);
    if (node) this.#index(node);
    this.kinds.pool(profile.pool).slots[slotClass] += count;
    this.#addTasks(accountId, count);
    this.kinds.addHeld(profile.pool, slotClass, accountId, count);
    if (slotClass === "inspect") this.kinds.addHeld(profile.pool, "held encode", accountId, count);
  }

  values(): Iterable<Node> {
    return this.#nodes.values();
  }

  get(nodeId: string): Node | null {
    return this.#nodes.get(nodeId) ?? null;
  }

  /** The node of this id, if it accepts work. */
  accepter(nodeId: string): Node | null {
    const node = this.get(nodeId);
    return node && this.#slots.accepts(node) ? node : null;
  }

  /** The node that holds a lease. */
  holder(lease: string): Node | null {
    return this.#running.holder(lease);
  }

  /** State of a lease at its node. Another process of the node does not hold the lease. */
  holding({ nodeId, session, lease }: LeaseHolder): LeaseHolding {
    const node = this.get(nodeId);
    if (!node) return "not-connected";
    return node.session === session && Object.hasOwn(node.leases, lease) ? "held" : "not-held";
  }

  /** The number of a node's free slots of a class for any work. */
  freeOf(node: Node, slotClass: SlotClass): number {
    return this.#slots.freeOf(node, slotClass);
  }

  /** The number of free slots for work whose source the node has, including the slots held for such work. */
  freeForSources(node: Node, slotClass: SlotClass): number {
    return this.#slots.freeForSources(node, slotClass);
  }

  /** The slots that a node would offer if the hub lost its memory now. */
  offeredBy(node: Node): SlotCounts {
    return this.#slots.offeredBy(node);
  }

  /** Ends the hold of an encode slot for an inspection. */
  endHold(lease: string): void {
    const node = this.holder(lease);
    if (!node || !this.#slots.isHeldFor(lease)) return;
    this.#unindex(node);
    this.#slots.endHold(lease);
    this.#index(node);
  }

  /** Adds a node. The caller first removes an older node of the same id. */
  add(node: Node): void {
    this.#nodes.set(node.nodeId, node);
    this.kinds.connect(node, 1);
    this.#index(node);
  }

  remove(node: Node): void {
    if (this.#nodes.get(node.nodeId) !== node) return;
    this.#nodes.delete(node.nodeId);
    this.#unindex(node);
    this.#end(node, Object.keys(node.leases));
    this.kinds.connect(node, -1);
  }

  /** Changes a node, even if it was removed. Its profile never changes. */
  change(node: Node, patch: Partial<ConnectedNode>): void {
    const isListed = this.#nodes.get(node.nodeId) === node;
    if (isListed) this.#unindex(node);
    const { leases = node.leases } = patch;
    if (isListed)
      this.#end(
        node,
        Object.keys(node.leases).filter((lease) => !Object.hasOwn(leases, lease)),
      );
    Object.assign(node, patch);
    if (isListed) this.#index(node);
  }

  /** Limits the number of tasks that a node gets at a time; null: no limit. */
  limit(nodeId: string, limit: Limit | null): void {
    if (this.#slots.limitOf(nodeId) === limit) return;
    const node = this.get(nodeId);
    if (node) this.#unindex(node);
    this.#slots.limit(nodeId, limit);
    if (node) this.#index(node);
  }

  /** The nodes with a limit. */
  limited(): Iterable<string> {
    return this.#slots.limited();
  }

  /** The leases that have left their nodes since the last call. */
  takeEnded(): Running[] {
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  /** The leases of all nodes. */
  running(): Iterable<Running> {
    return this.#running.values();
  }

  #index(node: Node): void {
    this.#running.add(node);
    this.#count(node, 1);
  }

  #unindex(node: Node): void {
    this.#count(node, -1);
    // The tasks were counted for the account that was known so far.
    for (const lease of Object.keys(node.leases)) {
      if (!waitsForOthers(lease)) this.#addTasks(accountOf(node, lease), -1);
    }
  }

  #count(node: Node, sign: 1 | -1): void {
    const pool = this.kinds.pool(node.profile.pool);
    const accepts = this.#slots.accepts(node);
    for (const [lease, slotClass] of Object.entries(node.leases)) {
      if (waitsForOthers(lease)) continue;
      const accountId = accountOf(node, lease);
      if (sign > 0) this.#addTasks(accountId, 1);
      if (!accepts) continue;
      pool.slots[slotClass] += sign;
      this.kinds.addHeld(node.profile.pool, slotClass, accountId, sign);
      const isHolding = slotClass === "inspect" && this.#slots.isHeldFor(lease);
      if (isHolding) this.kinds.addHeld(node.profile.pool, "held encode", accountId, sign);
    }
    if (!accepts) return;
    const kind = this.kinds.of(node);
    kind.accepting += sign;
    for (const slotClass of SLOT_CLASSES) {
      const free = this.freeOf(node, slotClass);
      pool.slots[slotClass] += sign * this.freeForSources(node, slotClass);
      pool.free[slotClass] += sign * free;
      kind.level(slotClass, node, free, sign > 0);
    }
  }

  #end(node: Node, leases: readonly string[]): void {
    const ended = this.#running.end(node, leases);
    for (const { lease } of ended) this.#slots.forget(lease);
    this.#ended.push(...ended);
  }

  #addTasks(accountId: string, count: number): void {
    const tasks = this.tasksOf(accountId) + count;
    if (tasks === 0) this.#tasks.delete(accountId);
    else this.#tasks.set(accountId, tasks);
  }
}
