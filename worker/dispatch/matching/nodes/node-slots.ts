// The slots of a node that tasks may use, and their uses. Each job is encoded on the node that has its source. So a
// node fetches a source only if it has a free encode slot, and the hub holds this slot for the job's encode. Pure.
import { waitsForOthers } from "#shared/ids.ts";
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";
import { accountOf, type ConnectedNode } from "./connected-node.ts";

/** Slots of a node that the job of a match has not claimed yet. */
export type Claim = {
  readonly ticket: { readonly slotClass: SlotClass; readonly accountId: string };
  readonly slots: number;
};

export type NodeRules = {
  readonly claims: Iterable<Claim>;
  /** Number of further tasks that the node may get, whatever it offers; null: no limit. */
  readonly limit: 0 | 1 | null;
  /** True if the hub holds an encode slot for an inspection. */
  readonly isHolding: (lease: string) => boolean;
};

/** The uses of an account's slots: tasks of a class, and encode slots held for inspections. */
export type SlotUse = SlotClass | "held encode";

export type NodeSlots = {
  /** True if the node accepts work. */
  readonly accepts: boolean;
  /** Free slots for any work. */
  readonly free: SlotCounts;
  /** Free slots for work whose source the node has, including the slots held for such work. */
  readonly forSources: SlotCounts;
  /** Slots with tasks. Tasks that wait for other tasks need no slot. */
  readonly uses: readonly { readonly use: SlotUse; readonly accountId: string; readonly slots: number }[];
};

export function slotsOf(node: ConnectedNode, { claims, limit, isHolding }: NodeRules): NodeSlots {
  const tasks = Object.entries(node.leases)
    .filter(([lease]) => !waitsForOthers(lease))
    .map(([lease, use]) => ({ use, accountId: accountOf(node, lease), slots: 1, holds: isHolding(lease) }));
  for (const { ticket, slots } of claims) {
    tasks.push({ use: ticket.slotClass, accountId: ticket.accountId, slots, holds: true });
  }
  const held = tasks.filter(({ use, holds }) => use === "inspect" && holds);
  const accepts = !node.draining && limit !== 0;
  const most = !accepts || (limit !== null && tasks.length > 0) ? 0 : (limit ?? Infinity);
  const forSources = { inspect: Math.min(node.free.inspect, most), encode: Math.min(node.free.encode, most) };
  const unheld = Math.max(0, node.free.encode - held.reduce((sum, { slots }) => sum + slots, 0));
  // A node without encode slots only inspects.
  const encodes =
    node.free.encode > 0 || [...tasks.map(({ use }) => use), ...Object.values(node.leases)].includes("encode");
  return {
    accepts,
    free: {
      encode: Math.min(forSources.encode, unheld),
      inspect: Math.min(forSources.inspect, encodes ? unheld : Infinity),
    },
    forSources,
    uses: [...tasks, ...held.map((task) => ({ ...task, use: "held encode" as const }))],
  };
}
