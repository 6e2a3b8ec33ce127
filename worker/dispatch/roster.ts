// What the hub knows of the connected nodes, and how it finds one without looking at all of them.

import * as z from "zod";
import { parseLeaseId } from "#shared/ids.ts";
import { SLOT_CLASSES, type SlotClass, SlotCounts } from "#shared/protocol.ts";

/** It lies in the socket's attachment, so that it outlives hibernation. */
export const ConnectedNode = z.object({
  nodeId: z.string(),
  session: z.string(),
  /** Slots that the node has granted and the hub has not used. */
  free: SlotCounts,
  /** Leases that the node was given and has not released. */
  leases: z.array(z.string()),
  /** It wants no more work on this connection. */
  draining: z.boolean(),
  /** When it last said something itself, as far as that was written down; ms since 1970. */
  heardAt: z.number(),
});
export type ConnectedNode = z.infer<typeof ConnectedNode>;

export const addSlots = (one: SlotCounts, other: SlotCounts): SlotCounts => ({
  inspect: one.inspect + other.inspect,
  encode: one.encode + other.encode,
});

/** Encodes that a node can do at the same time, those that it does now included: known by the names of their tasks. */
export const encodesOf = ({ free, leases }: ConnectedNode): number =>
  free.encode + leases.filter((lease) => !/^inspect\b/.test(parseLeaseId(lease)?.task ?? "inspect")).length;

/** With more free slots than that a node is as good as any other such. */
const MOST_FREE = 64;

export class Roster<Node extends ConnectedNode> {
  readonly #nodes = new Map<string, Node>();
  readonly #holders = new Map<string, Node>();
  /** By the number of free slots; whoever came to a number last is served last. */
  readonly #free: Record<SlotClass, readonly Set<Node>[]> = { inspect: newShelves(), encode: newShelves() };
  #taking = 0;

  /** How many nodes may be given work, now or when they have a free slot. */
  get taking(): number {
    return this.#taking;
  }

  values(): Iterable<Node> {
    return this.#nodes.values();
  }

  get(nodeId: string): Node | null {
    return this.#nodes.get(nodeId) ?? null;
  }

  /** The node that may be given work, by its id. */
  taker(nodeId: string): Node | null {
    const node = this.get(nodeId);
    return node && !node.draining ? node : null;
  }

  /** The node that was given a lease and has not released it. */
  holder(lease: string): Node | null {
    return this.#holders.get(lease) ?? null;
  }

  /** A node has one entry: the caller removes an older one of the same id first. */
  add(node: Node): void {
    this.#nodes.set(node.nodeId, node);
    this.#index(node);
  }

  remove(node: Node): void {
    if (this.#nodes.get(node.nodeId) !== node) return;
    this.#nodes.delete(node.nodeId);
    this.#unindex(node);
  }

  /** Also changes a node that was removed, without letting it in again. */
  change(node: Node, patch: Partial<ConnectedNode>): void {
    const isListed = this.#nodes.get(node.nodeId) === node;
    if (isListed) this.#unindex(node);
    Object.assign(node, patch);
    if (isListed) this.#index(node);
  }

  /** The node with the most free slots of a class, but for those of these ids; null when there is none. */
  mostFree(slotClass: SlotClass, shunned: readonly string[]): Node | null {
    const shelves = this.#free[slotClass];
    for (let slots = MOST_FREE; slots > 0; slots--) {
      for (const node of shelves[slots - 1] ?? []) if (!shunned.includes(node.nodeId)) return node;
    }
    return null;
  }

  #index(node: Node): void {
    for (const lease of node.leases) this.#holders.set(lease, node);
    if (node.draining) return;
    this.#taking += 1;
    for (const slotClass of SLOT_CLASSES) this.#shelf(slotClass, node)?.add(node);
  }

  #unindex(node: Node): void {
    for (const lease of node.leases) if (this.#holders.get(lease) === node) this.#holders.delete(lease);
    if (node.draining) return;
    this.#taking -= 1;
    for (const slotClass of SLOT_CLASSES) this.#shelf(slotClass, node)?.delete(node);
  }

  /** None for those without a free slot. */
  #shelf(slotClass: SlotClass, { free }: Node): Set<Node> | undefined {
    return this.#free[slotClass][Math.min(free[slotClass], MOST_FREE) - 1];
  }
}

const newShelves = <Node>(): readonly Set<Node>[] => Array.from({ length: MOST_FREE }, () => new Set<Node>());
