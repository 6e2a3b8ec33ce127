// Runs a lease, and holds its slot.

import type { LeaseId } from "#shared/ids.ts";
import type { Logger } from "#shared/log.ts";
import { traceFields } from "#shared/network/trace-context.ts";
import type { FreedSlots, NodeDisk, NodeFrame, TaskOutcome, TaskStage } from "#shared/protocol/frames.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { Assignment, SlotClass } from "#shared/protocol/tasks.ts";
import type { Report, Reports, SlotReturn } from "../link/reports.ts";
import { StorageHold } from "../upload/retry-policy.ts";
import type { CommandLog } from "../workspace/command-log.ts";
import type { ProgressBoard } from "../workspace/progress.ts";
import { type Slots, UPLOAD_DISK_BYTES, type UploadSlots } from "../workspace/slots.ts";
import type { TaskDeps, WaitForOthers } from "../workspace/task-deps.ts";
import { runTask } from "./run-task.ts";

export interface HeldSlotDeps {
  readonly slots: Slots;
  /** The disk that holds the results; null when the disk is unknown. */
  disk(): NodeDisk | null;
  send(frame: NodeFrame): void;
}

/** The slot of a lease: given back once, either with the report of its task's result or in a separate frame. */
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

/** The part of a task's deps that belongs to its lease alone. */
type LeaseDeps = Pick<
  TaskDeps,
  "assignment" | "signal" | "progress" | "playable" | "commands" | "report" | "releaseSlot" | "waiting" | "hold"
>;

export interface LeaseRunDeps extends HeldSlotDeps {
  readonly uploads: UploadSlots;
  /** The leases that hold outputs, because their storage is unreachable. */
  readonly holding: Set<LeaseId>;
  readonly board: ProgressBoard;
  readonly reports: Reports;
  readonly log: Logger;
  taskDeps(own: LeaseDeps): TaskDeps;
}

export type NoteProgress = (stage: TaskStage, fraction: number) => void;

/** Maximum number of leases that hold outputs without a slot. Further leases keep theirs: their files fill the disk. */
const MAX_HOLDING = 32;

type LeaseRun = {
  readonly assignment: Assignment;
  readonly slot: HeldSlot;
  readonly waiting: WaitForOthers;
  readonly commands: CommandLog;
};

/** Runs a lease from its taken slot to the report. The slot may be given back long before the end. */
export async function runLease(
  { assignment, slot, waiting, commands }: LeaseRun,
  signal: AbortSignal,
  note: NoteProgress,
  deps: LeaseRunDeps,
): Promise<void> {
  const { board, reports, uploads, holding } = deps;
  const { lease, token } = assignment;
  const log = deps.log.child({ lease, ...traceFields(assignment.trace) });
  const end = new AbortController();
  const held = new AbortController();
  let releaseUploadSlot: (() => void) | null = null;
  let last: Parameters<TaskDeps["progress"]> = ["transferring", 0];
  // Stopped work may still report progress for a short time. That would keep the lease on the board forever.
  const progress: TaskDeps["progress"] = (...latest) => {
    if (end.signal.aborted) return;
    last = latest;
    const [stage, fraction, rate] = latest;
    note(stage, fraction);
    board.update(lease, token, stage === "uploading" && hold.isHolding ? "holding" : stage, fraction, rate);
  };
  const hold = new StorageHold({
    log,
    changed(isHolding) {
      if (!isHolding) holding.delete(lease);
      else if (holding.size < MAX_HOLDING && (deps.disk()?.free ?? UPLOAD_DISK_BYTES) >= UPLOAD_DISK_BYTES) {
        // Other work needs the slot.
        holding.add(lease);
        held.abort();
        releaseUploadSlot?.();
      }
      progress(...last);
    },
  });
  const playable: TaskDeps["playable"] = (stream) => {
    if (!end.signal.aborted) board.playable(lease, stream);
  };
  const moveToUploadSlot = async (): Promise<void> => {
    const uploadSlot = await uploads.acquire(AbortSignal.any([end.signal, held.signal])).catch(() => null);
    if (end.signal.aborted || held.signal.aborted) uploadSlot?.();
    if (end.signal.aborted) return;
    releaseUploadSlot = uploadSlot;
    log.debug("encode slot released");
    slot.giveBack();
  };
  const report = (outputs: OutputReport[]): Promise<boolean> =>
    reports.send({ lease, verb: "outputs", body: { token, outputs } });
  const releaseSlot = (): void => void moveToUploadSlot();
  progress("transferring", 0);
  let outcome: TaskOutcome = "failed";
  try {
    const taskFields = { assignment, signal, progress, playable, commands, report, releaseSlot, waiting, hold };
    outcome = await runTask(deps.taskDeps(taskFields), {
      ...reports,
      send: (last: Report) => reports.send(last, slot.with(last)),
    });
  } finally {
    end.abort();
    board.remove(lease);
    holding.delete(lease);
    (releaseUploadSlot as (() => void) | null)?.();
    slot.end(outcome);
    log.debug("lease ended");
  }
}
