// Each job is encoded where its source is: a source is fetched only where an encode slot is free, and that slot is held
// for the job until then.
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";

type Slots = {
  readonly free: SlotCounts;
  /** The class of the slot that each lease takes. */
  readonly leases: Readonly<Record<string, SlotClass>>;
};

const NO_CLAIMS: SlotCounts = { inspect: 0, encode: 0 };

/** How long a slot is held for a source: one that is slower does not keep a machine idle. */
export const HOLD_MS = 5 * 60_000;

/**
 * The free slots that a node may get any work for. `held`: the inspections for which it holds an encode slot; `claims`:
 * what jobs were asked for on its behalf.
 */
export function freeSlots({ free, leases }: Slots, held: number, claims: SlotCounts = NO_CLAIMS): SlotCounts {
  const encode = Math.max(0, free.encode - held);
  const encodes = free.encode > 0 || claims.encode > 0 || Object.values(leases).includes("encode");
  // A node without encode slots only inspects.
  return { encode, inspect: encodes ? Math.min(free.inspect, encode) : free.inspect };
}
