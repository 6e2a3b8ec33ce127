// The number of a node's usable slots: the offered slots, minus limited slots and slots held for sources.
import { waitsForOthers } from "#shared/ids.ts";
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import type { ConnectedNode } from "./connected-node.ts";
import { freeSlots } from "./held-slots.ts";

/** Number of further tasks that a node may get, whatever it offers; absent: no limit. */
export type Limit = 0 | 1;

export class SlotRules {
  /** Running claims for each node. */
  readonly #claims = new Map<string, SlotCounts>();
  readonly #limits = new Map<string, Limit>();
  /** Inspections whose encode slot is no longer held. */
  readonly #late = new Set<string>();

  accepts({ nodeId, draining }: ConnectedNode): boolean {
    return !draining && this.#limits.get(nodeId) !== 0;
  }

  /** The number of a node's free slots of a class for any work. */
  freeOf(node: ConnectedNode, slotClass: SlotClass): number {
    return Math.min(this.freeForSources(node, slotClass), this.#unheld(node)[slotClass]);
  }

  /** The number of free slots for work whose source the node has, including the slots held for such work. */
  freeForSources(node: ConnectedNode, slotClass: SlotClass): number {
    if (!this.accepts(node)) return 0;
    const limit = this.#limits.get(node.nodeId);
    if (limit === undefined) return node.free[slotClass];
    const isBusy = !Object.keys(node.leases).every(waitsForOthers) || this.#claims.has(node.nodeId);
    return isBusy ? 0 : Math.min(limit, node.free[slotClass]);
  }

  /** Adds tasks that are being claimed for a node; a negative count removes them. */
  claim(nodeId: string, slotClass: SlotClass, count: number): void {
    const claims = { ...(this.#claims.get(nodeId) ?? { inspect: 0, encode: 0 }) };
    claims[slotClass] += count;
    if (claims.inspect + claims.encode === 0) this.#claims.delete(nodeId);
    else this.#claims.set(nodeId, claims);
  }

  /**
   * The free slots of a node, and the slots of running claims. If the claims are lost, the node still has these slots.
   */
  offeredBy({ nodeId, free }: ConnectedNode): SlotCounts {
    const { inspect = 0, encode = 0 } = this.#claims.get(nodeId) ?? {};
    return { inspect: free.inspect + inspect, encode: free.encode + encode };
  }

  limitOf(nodeId: string): Limit | null {
    return this.#limits.get(nodeId) ?? null;
  }

  limit(nodeId: string, limit: Limit | null): void {
    if (limit === null) this.#limits.delete(nodeId);
    else this.#limits.set(nodeId, limit);
  }

  limited(): Iterable<string> {
    return this.#limits.keys();
  }

  /** True if an encode slot is held for an inspection. */
  isHeldFor(lease: string): boolean {
    return !this.#late.has(lease);
  }

  endHold(lease: string): void {
    this.#late.add(lease);
  }

  /** Forgets an inspection that has ended. */
  forget(lease: string): void {
    this.#late.delete(lease);
  }

  #unheld(node: ConnectedNode): SlotCounts {
    const leases = Object.entries(node.leases);
    const held = leases.filter(([lease, slotClass]) => slotClass === "inspect" && this.isHeldFor(lease));
    const claims = this.#claims.get(node.nodeId);
    return freeSlots(node, held.length + (claims?.inspect ?? 0), claims);
  }
}
