// The sums of slots and tasks over the connected nodes.
import { SLOT_CLASSES, type SlotClass } from "#shared/protocol/tasks.ts";
import type { NodeSlots, SlotUse } from "./node-slots.ts";

export class SlotSums {
  readonly #sums = new Map<string, number>();

  /** The number of slots of a class, free or in use, of a pool's nodes that accept work. */
  slots(pool: string, slotClass: SlotClass): number {
    return this.#sums.get(`slots ${slotClass} ${pool}`) ?? 0;
  }

  /** The number of these nodes' free slots for any work. */
  free(pool: string, slotClass: SlotClass): number {
    return this.#sums.get(`free ${slotClass} ${pool}`) ?? 0;
  }

  /** The number of these nodes' slots that an account uses, including the slots of running claims. */
  held(pool: string, use: SlotUse, accountId: string): number {
    return this.#sums.get(`${use} ${pool} ${accountId}`) ?? 0;
  }

  /** The number of an account's tasks on all nodes, including tasks of running claims. */
  tasksOf(accountId: string): number {
    return this.#sums.get(`tasks ${accountId}`) ?? 0;
  }

  /** Adds the slots of a node to the sums (1), or subtracts them (-1). */
  count({ accepts, uses, free, forSources }: NodeSlots, pool: string, sign: 1 | -1): void {
    for (const { use, accountId, slots } of uses) {
      if (use !== "held encode") this.#add(`tasks ${accountId}`, sign * slots);
      if (!accepts) continue;
      this.#add(`${use} ${pool} ${accountId}`, sign * slots);
      this.#add(`slots ${use} ${pool}`, sign * slots);
    }
    if (!accepts) return;
    for (const slotClass of SLOT_CLASSES) {
      this.#add(`slots ${slotClass} ${pool}`, sign * forSources[slotClass]);
      this.#add(`free ${slotClass} ${pool}`, sign * free[slotClass]);
    }
  }

  #add(name: string, count: number): void {
    const sum = (this.#sums.get(name) ?? 0) + count;
    if (sum === 0) this.#sums.delete(name);
    else this.#sums.set(name, sum);
  }
}
