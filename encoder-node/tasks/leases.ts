// The leases that this node works on: each takes a slot, runs, reports, and gives the slot back.
import type { Failure } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import {
  type Assignment,
  type LeaseProof,
  type NodeFrame,
  type OutputReport,
  type SlotClass,
  type SlotCounts,
  slotClassOf,
  type TaskStage,
} from "#shared/protocol/protocol.ts";
import type { Reports } from "../link/reports.ts";
import type { ProgressBoard } from "../task/progress.ts";
import type { Slots } from "../task/slots.ts";
import { TURN_OVER } from "../task/source-cache.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import type { UploadSlots } from "../task/upload-slots.ts";
import { runTask, type StopReason } from "./run-task.ts";

export interface Leases {
  /** Starts the work on an assignment; after `drain` it is refused at once. */
  start(assignment: Assignment): void;
  cancel(lease: LeaseId): void;
  /** Others wait: a task that only waits for its source gives way to them. */
  yield(lease: LeaseId): void;
  running(): LeaseProof[];
  /** Stops what runs and hands it back. */
  handBack(): void;
  /** Takes nothing new and resolves when nothing runs any more. */
  drain(): Promise<void>;
}

/** What a lease's work needs from the node. */
export interface LeasesDeps {
  readonly slots: Slots;
  readonly uploads: UploadSlots;
  readonly board: ProgressBoard;
  readonly reports: Reports;
  readonly log: Logger;
  send(frame: NodeFrame): void;
  taskDeps(own: Pick<TaskDeps, "assignment" | "signal" | "progress" | "turn" | "report" | "encoded">): TaskDeps;
}

type Running = { assignment: Assignment; abort: AbortController; turn: AbortController; done: Promise<unknown> };
type Work = (signal: AbortSignal, turnOver: AbortSignal) => Promise<unknown>;

const DRAINING: Failure = { code: "node_lost", message: "The node is about to stop and takes no new work" };

export function createLeases(deps: LeasesDeps): Leases {
  const { slots, reports, log } = deps;
  const leases = new Map<LeaseId, Running>();
  let draining = false;

  const keep = (assignment: Assignment, work: Work): void => {
    const { lease } = assignment;
    const [abort, turn] = [new AbortController(), new AbortController()];
    const done = work(abort.signal, turn.signal)
      .catch((error: unknown) => log.error("Lease ended badly", { lease, error: messageOf(error) }))
      .finally(() => leases.delete(lease));
    leases.set(lease, { assignment, abort, turn, done });
  };
  const refuse = ({ lease, token }: Assignment): Promise<boolean> =>
    reports.send({ lease, verb: "fail", body: { token, failure: DRAINING } });

  return {
    start(assignment) {
      const slotClass = slotClassOf(assignment.task);
      // The hub has spent a slot on it; the work that already runs gives only its own back.
      if (leases.has(assignment.lease)) return deps.send(granting(slotClass, draining ? 0 : 1, []));
      if (draining) return keep(assignment, () => refuse(assignment));
      slots.take(slotClass);
      keep(assignment, (signal, turnOver) => work(assignment, signal, turnOver, deps));
    },
    cancel: (lease) => leases.get(lease)?.abort.abort("cancelled" satisfies StopReason),
    yield: (lease) => leases.get(lease)?.turn.abort(TURN_OVER),
    running: () => [...leases.values()].map(({ assignment: { lease, token } }) => ({ lease, token })),
    handBack: () => {
      for (const { abort } of leases.values()) abort.abort("handed-back" satisfies StopReason);
    },
    async drain() {
      draining = true;
      slots.close();
      // What was under way when the hub was told may still come, and must be refused before the node goes.
      while (leases.size > 0) await Promise.all([...leases.values()].map(({ done }) => done));
    },
  };
}

/** The work on one lease, from the slot taken to the slot given back, which may be long before its end. */
async function work(
  assignment: Assignment,
  signal: AbortSignal,
  turnOver: AbortSignal,
  deps: LeasesDeps,
): Promise<void> {
  const { board, reports, uploads } = deps;
  const { lease, token } = assignment;
  const end = new AbortController();
  const giveBack = slotHeld(slotClassOf(assignment.task), deps);
  let leave: (() => void) | null = null;
  // Work that was stopped may still have something to say for a moment, which would put the lease on the board for good.
  const progress = (stage: TaskStage, fraction: number): void => {
    if (!end.signal.aborted) board.note(lease, token, stage, fraction);
  };
  const encoded = async (): Promise<void> => {
    leave = await uploads.take(end.signal);
    if (end.signal.aborted) leave();
    else giveBack([]);
  };
  const report = (outputs: OutputReport[]): Promise<boolean> =>
    reports.send({ lease, verb: "outputs", body: { token, outputs } });
  progress("transferring", 0);
  try {
    const turn = { over: turnOver, slow: () => deps.send({ type: "slow", lease }) };
    const own = { assignment, signal, progress, turn, report, encoded: () => void encoded().catch(() => undefined) };
    await runTask(deps.taskDeps(own), reports);
  } finally {
    end.abort();
    board.drop(lease);
    (leave as (() => void) | null)?.();
    giveBack([lease]);
  }
}

/** A slot of this class: what gives it back, once, and tells the hub of it and of leases that have ended. */
function slotHeld(slotClass: SlotClass, { slots, send }: LeasesDeps): (released: LeaseId[]) => void {
  let isHeld = true;
  return (released) => {
    const before = slots.free()[slotClass];
    if (isHeld) slots.give(slotClass);
    isHeld = false;
    send(granting(slotClass, slots.free()[slotClass] - before, released));
  };
}

const granting = (slotClass: SlotClass, count: number, released: LeaseId[]): NodeFrame => {
  const grant: SlotCounts = { inspect: 0, encode: 0, [slotClass]: count };
  return { type: "slots", grant, released };
};
