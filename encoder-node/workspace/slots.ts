// Counts the slots of this node: the tasks of each class that it runs at a time.
import type { SlotClass, SlotCounts } from "#shared/protocol/tasks.ts";

export interface Slots {
  free(): SlotCounts;
  take(slotClass: SlotClass): void;
  give(slotClass: SlotClass): void;
  /** Makes unused slots free. */
  open(): void;
  /** Makes unused slots unavailable. */
  close(): void;
}

export function createSlots(capacity: SlotCounts): Slots {
  const used: SlotCounts = { inspect: 0, encode: 0 };
  let isOpen = true;
  const freeOf = (slotClass: SlotClass): number => (isOpen ? Math.max(0, capacity[slotClass] - used[slotClass]) : 0);
  return {
    free: () => ({ inspect: freeOf("inspect"), encode: freeOf("encode") }),
    take: (slotClass) => {
      used[slotClass] += 1;
    },
    give: (slotClass) => {
      used[slotClass] -= 1;
    },
    open: () => {
      isOpen = true;
    },
    close: () => {
      isOpen = false;
    },
  };
}
