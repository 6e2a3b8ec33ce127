// The slot of a lease: given back once, with the report of its task's result or in a frame of its own.
import type { LeaseId } from "#shared/ids.ts";
import {
  type FreedSlots,
  MAX_REPORT_WAIT_MS,
  type NodeDisk,
  type NodeFrame,
  type TaskOutcome,
} from "#shared/protocol/frames.ts";
import type { Assignment, SlotClass } from "#shared/protocol/tasks.ts";
import type { Report, SlotReturn } from "../link/reports.ts";
import type { Slots } from "../task/slots.ts";

export interface HeldSlotDeps {
  readonly slots: Slots;
  /** The disk that holds the results; null when it is not known. */
  disk(): NodeDisk | null;
  send(frame: NodeFrame): void;
}

/** The share of the time of its work that a chunk's report may wait for those of other chunks. */
const REPORT_WAIT_SHARE = 0.01;

export class HeldSlot {
  readonly #assignment: Assignment;
  readonly #deps: HeldSlotDeps;
  readonly #startedAt = Date.now();
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

  /** The lease has ended, and the slot is free if it was not before. */
  end(outcome: TaskOutcome): void {
    if (!this.#isReported) this.#deps.send({ type: "slots", ...this.#give([this.#assignment.lease], outcome) });
  }

  /**
   * A result takes the slot along, so that the next task comes with its answer. Not that of an inspection: the hub
   * keeps an encode slot for its job meanwhile. A failure neither: its job must first advertise which nodes to avoid.
   */
  with({ lease, verb, body }: Report, now = Date.now()): SlotReturn | undefined {
    if (verb !== "complete" || this.#assignment.slotClass !== "encode") return undefined;
    const waitMs = Math.min(MAX_REPORT_WAIT_MS, REPORT_WAIT_SHARE * (now - this.#startedAt));
    return {
      mayWaitMs: body.result.kind === "chunk" ? Math.floor(waitMs) : 0,
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
