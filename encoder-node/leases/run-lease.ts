// The slot of a lease: given back once, either with the report of its task's result or in a separate frame.
import type { LeaseId } from "#shared/ids.ts";
import type { FreedSlots, NodeDisk, NodeFrame, TaskOutcome } from "#shared/protocol/frames.ts";
import type { Assignment, SlotClass } from "#shared/protocol/tasks.ts";
import type { Report, SlotReturn } from "../link/reports.ts";
import type { Slots } from "../workspace/slots.ts";

export interface HeldSlotDeps {
  readonly slots: Slots;
  /** The disk that holds the results; null when the disk is unknown. */
  disk(): NodeDisk | null;
  send(frame: NodeFrame): void;
}

export class HeldSlot {
  readonly #assignment: Assignment;
  readonly #deps: HeldSlotDeps;
  #isHeld = true;
  #isReported = false;

  /** Takes the slot. */
  constructor(assignment: Assignment, deps: HeldSlotDeps) {
    this.#assignment = assignment;
    this.#deps = deps;
    deps.slots.take(assignment.slotClass);
  }

  /** Gives the slot back while the task continues. */
  giveBack(): void {
    this.#deps.send({ type: "slots", ...this.#give([]) });
  }

  /** Ends the lease, and frees the slot unless it was free before. */
  end(outcome: TaskOutcome): void {
    if (!this.#isReported) this.#deps.send({ type: "slots", ...this.#give([this.#assignment.lease], outcome) });
  }

  /**
   * A result gives the slot back in the same frame, so that the next task comes with the answer. The result of an
   * inspection does not: the hub keeps an encode slot for its job meanwhile. A failure does not either: its job must
   * first advertise which nodes to avoid.
   */
  with({ lease, verb }: Report): SlotReturn | undefined {
    if (verb !== "complete" || this.#assignment.slotClass !== "encode") return undefined;
    return {
      freed: () => this.#give([lease], "done"),
      acknowledged: () => {
        this.#isReported = true;
      },
    };
  }

  #give(released: LeaseId[], outcome?: TaskOutcome): FreedSlots {
    const { slots, disk } = this.#deps;
    const { slotClass } = this.#assignment;
    const before = slots.free()[slotClass];
    if (this.#isHeld) slots.give(slotClass);
    this.#isHeld = false;
    const freed = freedSlots(slotClass, slots.free()[slotClass] - before, released);
    const onDisk = disk();
    return { ...freed, ...(outcome && { outcome }), ...(onDisk && { disk: onDisk }) };
  }
}

export const freedSlots = (slotClass: SlotClass, count: number, released: LeaseId[]): FreedSlots => ({
  offered: { inspect: 0, encode: 0, [slotClass]: count },
  released,
});
