// What the hub knows of the connected nodes, and how it finds one without looking at all of them.

import * as z from "zod";
import { type JobId, parseLeaseId } from "#shared/ids.ts";
import { SLOT_CLASSES, type SlotClass, SlotCounts } from "#shared/protocol/protocol.ts";
import { MAX_LEASES, MAX_SLOTS } from "#shared/report-limits.ts";

/** It lies in the socket's attachment, so that it outlives hibernation. */
export const ConnectedNode = z.object({
  nodeId: z.string(),
  session: z.string(),
  /** Slots that the node has granted and the hub has not used. */
  free: SlotCounts,
  /** Leases that the node was given and has not released. */
  leases: z.array(z.string()),
  /** The accounts of the jobs that these leases are of, by the jobs' ids, as far as they are known. */
  accounts: z.record(z.string(), z.string()).default({}),
  /** It wants no more work on this connection. */
  draining: z.boolean(),
  /** When it last said something itself, as far as that was written down; ms since 1970. */
  heardAt: z.number(),
});
export type ConnectedNode = z.infer<typeof ConnectedNode>;

/** The slots that are free with those that a node grants: no more than it may have, and may hold leases. */
export function addSlots(
  { free, leases }: Pick<ConnectedNode, "free" | "leases">,
  { inspect, encode }: SlotCounts,
): SlotCounts {
  const room = Math.max(0, MAX_LEASES - leases.length);
  const ofEncode = Math.min(free.encode + encode, MAX_SLOTS, room);
  return { encode: ofEncode, inspect: Math.min(free.inspect + inspect, MAX_SLOTS, room - ofEncode) };
}

/** The class of slot that a lease took, known by the name of its task. */
export const classOf = (lease: string): SlotClass =>
  /^inspect\b/.test(parseLeaseId(lease)?.task ?? "inspect") ? "inspect" : "encode";

/** Encodes that a node can do at the same time, those that it does now included. */
export const encodesOf = ({ free, leases }: ConnectedNode): number =>
  free.encode + leases.filter((lease) => classOf(lease) === "encode").length;

/** What a node holds with further leases of a ticket's job. Accounts of jobs of which it holds none are forgotten. */
export function holding(
  { leases, accounts }: Pick<ConnectedNode, "leases" | "accounts">,
  given: readonly { readonly lease: string }[],
  { jobId, accountId }: { readonly jobId: string; readonly accountId: string },
): Pick<ConnectedNode, "leases" | "accounts"> {
  const all = [...leases, ...given.map(({ lease }) => lease)];
  const jobs = new Set(all.map((lease) => parseLeaseId(lease)?.job ?? ""));
  const known = Object.entries({ ...accounts, [jobId]: accountId }).filter(([job]) => jobs.has(job as JobId));
  return { leases: all, accounts: Object.fromEntries(known) };
}

/** Of leases whose account is not known, such as those of earlier versions of the control plane. */
const UNKNOWN_ACCOUNT = "";

/** With more free slots than that a node is as good as any other such. */
const MOST_FREE = 64;

export class Roster<Node extends ConnectedNode> {
  readonly #nodes = new Map<string, Node>();
  readonly #holders = new Map<string, Node>();
  /** By the number of free slots; whoever came to a number last is served last. */
  readonly #free: Record<SlotClass, readonly Set<Node>[]> = { inspect: newShelves(), encode: newShelves() };
  /** Slots that nodes have free, or hold leases with; and those of each account. */
  readonly #slots: Record<SlotClass, number> = { inspect: 0, encode: 0 };
  readonly #held: Record<SlotClass, Map<string, number>> = { inspect: new Map(), encode: new Map() };
  #taking = 0;

  /** How many nodes may be given work, now or when they have a free slot. */
  get taking(): number {
    return this.#taking;
  }

  /** Slots of a class that the nodes have which take work, free or not. */
  slots(slotClass: SlotClass): number {
    return this.#slots[slotClass];
  }

  /** How many of them an account has. */
  held(slotClass: SlotClass, accountId: string): number {
    return this.#held[slotClass].get(accountId) ?? 0;
  }

  /** Slots that are being offered to an account count as its own until its job has answered; a negative count ends that. */
  promise(slotClass: SlotClass, accountId: string, count: number): void {
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
    this.#count(node, 1);
  }

  #unindex(node: Node): void {
    for (const lease of node.leases) if (this.#holders.get(lease) === node) this.#holders.delete(lease);
    if (node.draining) return;
    this.#taking -= 1;
    for (const slotClass of SLOT_CLASSES) this.#shelf(slotClass, node)?.delete(node);
    this.#count(node, -1);
  }

  #count({ free, leases, accounts }: Node, sign: 1 | -1): void {
    for (const slotClass of SLOT_CLASSES) this.#slots[slotClass] += sign * free[slotClass];
    for (const lease of leases) {
      const accountId = accounts[parseLeaseId(lease)?.job ?? ""] ?? UNKNOWN_ACCOUNT;
      this.promise(classOf(lease), accountId, sign);
    }
  }

  /** None for those without a free slot. */
  #shelf(slotClass: SlotClass, { free }: Node): Set<Node> | undefined {
    return this.#free[slotClass][Math.min(free[slotClass], MOST_FREE) - 1];
  }
}

const newShelves = <Node>(): readonly Set<Node>[] => Array.from({ length: MOST_FREE }, () => new Set<Node>());
