// The connected nodes, with indexes to find one without looking at all of them.

import * as z from "zod";
import { parseLeaseId } from "#shared/ids.ts";
import { SLOT_CLASSES, type SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import { MAX_LEASES, MAX_SLOTS } from "#shared/report-limits.ts";

/** The leases that a node holds, with the class of the slot that each takes. */
const HeldLeases = z.record(z.string(), z.enum(SLOT_CLASSES));
export type HeldLeases = z.infer<typeof HeldLeases>;

/** A node as it is stored in its socket's attachment. */
export const ConnectedNode = z.object({
  nodeId: z.string(),
  session: z.string(),
  /** Slots that the node has offered and the hub has not used. */
  free: SlotCounts,
  /** Leases that the node was assigned and has not released. */
  leases: HeldLeases,
  /** The accounts of these leases' jobs, by job id, as far as they are known. */
  accounts: z.record(z.string(), z.string()).default({}),
  /** Whether it accepts no more work on this connection. */
  draining: z.boolean(),
  /** When it last sent a frame, as of the last update; ms since 1970. */
  heardAt: z.number(),
});
export type ConnectedNode = z.infer<typeof ConnectedNode>;

/** The free slots after a node offers further ones: no more than it may have slots, and may hold leases. */
export function addSlots(
  { free, leases }: Pick<ConnectedNode, "free" | "leases">,
  { inspect, encode }: SlotCounts,
): SlotCounts {
  const room = Math.max(0, MAX_LEASES - Object.keys(leases).length);
  const ofEncode = Math.min(free.encode + encode, MAX_SLOTS, room);
  return { encode: ofEncode, inspect: Math.min(free.inspect + inspect, MAX_SLOTS, room - ofEncode) };
}

/** The number of encodes that a node can run at the same time, running ones included. */
export const encodesOf = ({ free, leases }: ConnectedNode): number =>
  free.encode + Object.values(leases).filter((slotClass) => slotClass === "encode").length;

/** The leases of a node with further leases of a ticket's job. Accounts of jobs without a lease are removed. */
export function holding(
  { leases, accounts }: Pick<ConnectedNode, "leases" | "accounts">,
  added: readonly { readonly lease: string; readonly slotClass: SlotClass }[],
  { jobId, accountId }: { readonly jobId: string; readonly accountId: string },
): Pick<ConnectedNode, "leases" | "accounts"> {
  const all = { ...leases, ...Object.fromEntries(added.map(({ lease, slotClass }) => [lease, slotClass])) };
  const jobs = new Set<string>(Object.keys(all).map((lease) => parseLeaseId(lease)?.job ?? ""));
  const known = Object.entries({ ...accounts, [jobId]: accountId }).filter(([job]) => jobs.has(job));
  return { leases: all, accounts: Object.fromEntries(known) };
}

/** The account of leases whose job is not known. */
const UNKNOWN_ACCOUNT = "";

/** Nodes with more free slots than this are treated alike. */
const MOST_FREE = 64;

export class Roster<Node extends ConnectedNode> {
  readonly #nodes = new Map<string, Node>();
  readonly #holders = new Map<string, Node>();
  /** Nodes by the number of their free slots, in the order in which they reached it. */
  readonly #free: Record<SlotClass, readonly Set<Node>[]> = { inspect: newLevels(), encode: newLevels() };
  /** The number of slots, free or in use; and of those that each account uses. */
  readonly #slots: Record<SlotClass, number> = { inspect: 0, encode: 0 };
  readonly #held: Record<SlotClass, Map<string, number>> = { inspect: new Map(), encode: new Map() };
  #accepting = 0;

  /** The number of nodes that accept work, now or when they have a free slot. */
  get accepting(): number {
    return this.#accepting;
  }

  /** The number of slots of a class, free or in use, of the nodes that accept work. */
  slots(slotClass: SlotClass): number {
    return this.#slots[slotClass];
  }

  /** How many of them an account uses. */
  held(slotClass: SlotClass, accountId: string): number {
    return this.#held[slotClass].get(accountId) ?? 0;
  }

  /** Counts slots as used by an account until its job has claimed them; a negative count ends the reservation. */
  reserve(slotClass: SlotClass, accountId: string, count: number): void {
    this.#slots[slotClass] += count;
    const held = this.held(slotClass, accountId) + count;
    if (held === 0) this.#held[slotClass].delete(accountId);
    else this.#held[slotClass].set(accountId, held);
  }

  values(): Iterable<Node> {
    return this.#nodes.values();
  }

  get(nodeId: string): Node | null {
    return this.#nodes.get(nodeId) ?? null;
  }

  /** The node of an id, if it accepts work. */
  accepter(nodeId: string): Node | null {
    const node = this.get(nodeId);
    return node && !node.draining ? node : null;
  }

  /** The node that holds a lease. */
  holder(lease: string): Node | null {
    return this.#holders.get(lease) ?? null;
  }

  /** The caller removes an older node of the same id first. */
  add(node: Node): void {
    this.#nodes.set(node.nodeId, node);
    this.#index(node);
  }

  remove(node: Node): void {
    if (this.#nodes.get(node.nodeId) !== node) return;
    this.#nodes.delete(node.nodeId);
    this.#unindex(node);
  }

  /** Changes a node, whether or not it was removed. */
  change(node: Node, patch: Partial<ConnectedNode>): void {
    const isListed = this.#nodes.get(node.nodeId) === node;
    if (isListed) this.#unindex(node);
    Object.assign(node, patch);
    if (isListed) this.#index(node);
  }

  /** The node with the most free slots of a class, except those with these ids; null when there is none. */
  mostFree(slotClass: SlotClass, avoided: readonly string[]): Node | null {
    const levels = this.#free[slotClass];
    for (let slots = MOST_FREE; slots > 0; slots--) {
      for (const node of levels[slots - 1] ?? []) if (!avoided.includes(node.nodeId)) return node;
    }
    return null;
  }

  #index(node: Node): void {
    for (const lease of Object.keys(node.leases)) this.#holders.set(lease, node);
    if (node.draining) return;
    this.#accepting += 1;
    for (const slotClass of SLOT_CLASSES) this.#level(slotClass, node)?.add(node);
    this.#count(node, 1);
  }

  #unindex(node: Node): void {
    for (const lease of Object.keys(node.leases)) if (this.#holders.get(lease) === node) this.#holders.delete(lease);
    if (node.draining) return;
    this.#accepting -= 1;
    for (const slotClass of SLOT_CLASSES) this.#level(slotClass, node)?.delete(node);
    this.#count(node, -1);
  }

  #count({ free, leases, accounts }: Node, sign: 1 | -1): void {
    for (const slotClass of SLOT_CLASSES) this.#slots[slotClass] += sign * free[slotClass];
    for (const [lease, slotClass] of Object.entries(leases)) {
      const accountId = accounts[parseLeaseId(lease)?.job ?? ""] ?? UNKNOWN_ACCOUNT;
      this.reserve(slotClass, accountId, sign);
    }
  }

  /** None for nodes without a free slot. */
  #level(slotClass: SlotClass, { free }: Node): Set<Node> | undefined {
    return this.#free[slotClass][Math.min(free[slotClass], MOST_FREE) - 1];
  }
}

const newLevels = <Node>(): readonly Set<Node>[] => Array.from({ length: MOST_FREE }, () => new Set<Node>());
