// Each job is encoded where its source is: a source is fetched only where an encode slot is free, and that slot is held
// for the job until then.
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";

type Slots = {
  readonly free: SlotCounts;
  /** The class of the slot that each lease takes. */
  readonly leases: Readonly<Record<string, SlotClass>>;
};

/** The free slots that a node may get any work for. `claims`: inspections that are being claimed for it. */
export function freeSlots({ free, leases }: Slots, claims: number): SlotCounts {
  const classes = Object.values(leases);
  const held = classes.filter((slotClass) => slotClass === "inspect").length + claims;
  const encode = Math.max(0, free.encode - held);
  const encodes = free.encode > 0 || classes.includes("encode");
  // A node without encode slots only inspects.
  return { encode, inspect: encodes ? Math.min(free.inspect, encode) : free.inspect };
}
