// Each job is encoded on the node that has its source. A node fetches a source only if it has a free encode slot. The
// hub holds the slot for the job's encode.
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";

type Slots = {
  readonly free: SlotCounts;
  /** The class of the slot that each lease takes. */
  readonly leases: Readonly<Record<string, SlotClass>>;
};

const NO_CLAIMS: SlotCounts = { inspect: 0, encode: 0 };

/** Maximum time of a hold: a slower source does not keep a machine idle. */
export const HOLD_MS = 5 * 60_000;

/**
 * The free slots of a node for any work. `held`: the inspections with a held encode slot. `claims`: the slots of
 * running claims for the node.
 */
export function freeSlots({ free, leases }: Slots, held: number, claims: SlotCounts = NO_CLAIMS): SlotCounts {
  const encode = Math.max(0, free.encode - held);
  const encodes = free.encode > 0 || claims.encode > 0 || Object.values(leases).includes("encode");
  // A node without encode slots only inspects.
  return { encode, inspect: encodes ? Math.min(free.inspect, encode) : free.inspect };
}
