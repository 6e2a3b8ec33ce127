// The leases of this node. Each lease takes a slot, runs, reports, and gives the slot back.
import type { Failure } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { messageOf } from "#shared/log.ts";
import { traceFields } from "#shared/network/trace-context.ts";
import type { CommandReport } from "#shared/protocol/commands.ts";
import type { Assignment, RunningLease } from "#shared/protocol/tasks.ts";
import type { HeldLeases } from "../link/held-leases.ts";
import { workingOn } from "../watchdog/current-lease.ts";
import { CommandLog } from "../workspace/command-log.ts";
import type { WaitForOthers } from "../workspace/task-deps.ts";
import { canFinish, type WorkDone } from "./finish-in-time.ts";
import { freedSlots, HeldSlot, type LeaseRunDeps, type NoteProgress, runLease } from "./run-lease.ts";
import type { StopReason } from "./run-task.ts";

/** Dependencies of the leases on the node. */
export interface LeasesDeps extends LeaseRunDeps {
  /** Keeps the leases until they end. */
  readonly held: Pick<HeldLeases, "add" | "remove">;
}

type Running = {
  readonly assignment: Assignment;
  readonly work: { done: WorkDone };
  readonly abort: AbortController;
  readonly commands: CommandLog;
  readonly done: Promise<unknown>;
};
type Start = (signal: AbortSignal, note: NoteProgress, commands: CommandLog) => Promise<unknown>;

/** Interval at which a node checks which work it can finish before its machine is taken away. */
const CHECK_EVERY_MS = 1000;

const DRAINING: Failure = { code: "node_lost", message: "The node is about to stop and accepts no new work" };

export class Leases {
  readonly #deps: LeasesDeps;
  readonly #leases = new Map<LeaseId, Running>();
  readonly #waiting = new WaitingLeases();
  #isDraining = false;

  constructor(deps: LeasesDeps) {
    this.#deps = deps;
  }

  /** Starts the work on an assignment. While the node drains, the assignment is reported as failed at once. */
  start(assignment: Assignment): void {
    const { reports, log, send } = this.#deps;
    const { lease, token, kind, slotClass, round } = assignment;
    // The hub has used a slot for this assignment. The work that already runs gives back only its own slot.
    if (this.#leases.has(lease)) return send({ type: "slots", ...freedSlots(slotClass, this.#isDraining ? 0 : 1, []) });
    if (this.#isDraining) {
      return this.#run(assignment, () => reports.send({ lease, verb: "fail", body: { token, failure: DRAINING } }));
    }
    log.debug("lease started", { lease, kind, slotClass, round, ...traceFields(assignment.trace) });
    const slot = new HeldSlot(assignment, this.#deps);
    const waiting = this.#waiting.of(lease, () => slot.giveBack());
    this.#run(assignment, (signal, note, commands) =>
      runLease({ assignment, slot, waiting, commands }, signal, note, this.#deps),
    );
  }

  cancel(lease: LeaseId): void {
    this.#leases.get(lease)?.abort.abort("cancelled" satisfies StopReason);
  }

  /** The ffmpeg runs of a lease that have not ended. */
  commandsOf(lease: LeaseId): CommandReport[] {
    return this.#leases.get(lease)?.commands.running() ?? [];
  }

  running(): RunningLease[] {
    return [...this.#leases.values()].map(({ assignment: { lease, token, slotClass } }) => ({
      lease,
      token,
      slotClass,
    }));
  }

  /** Stops all work and reports it as failed, so that other nodes do the work. */
  handBack(): void {
    this.#handBack([...this.#leases.values()]);
  }

  /**
   * Accepts no new work, and resolves when all work has ended. If the machine will be gone after `withinMs`, work that
   * cannot end in time is handed back as soon as this is clear.
   */
  async drain(withinMs: number | null = null): Promise<void> {
    this.#isDraining = true;
    this.#deps.slots.close();
    const { holding, log } = this.#deps;
    if (holding.size > 0) log.warn("outputs held", { leases: [...holding].join(" "), limitMs: withinMs });
    this.#waiting.close();
    // The other leases may wait for a slot of this node.
    this.#handBack([...this.#leases.values()].filter(({ assignment }) => this.#waiting.has(assignment.lease)));
    if (withinMs === null) return this.#allEnded();
    const deadline = Date.now() + withinMs;
    const handBackLate = (): void => {
      const now = Date.now();
      this.#handBack([...this.#leases.values()].filter(({ work }) => !canFinish(work.done, deadline, now)));
    };
    handBackLate();
    const timer = setInterval(handBackLate, CHECK_EVERY_MS);
    await this.#allEnded();
    clearInterval(timer);
  }

  #handBack(late: readonly Running[]): void {
    for (const { assignment, abort } of late) {
      const { lease, trace } = assignment;
      if (!abort.signal.aborted) this.#deps.log.info("lease returned", { lease, ...traceFields(trace) });
      abort.abort("handed-back" satisfies StopReason);
    }
  }

  async #allEnded(): Promise<void> {
    // Assignments that the hub sent before it knew of the drain may still arrive. They must be reported before the node
    // stops.
    while (this.#leases.size > 0) await Promise.all([...this.#leases.values()].map(({ done }) => done));
  }

  #run(assignment: Assignment, start: Start): void {
    const { lease, token } = assignment;
    const { held, log } = this.#deps;
    held.add({ lease, token });
    const work: Running["work"] = { done: { stage: "transferring", fraction: 0, since: Date.now() } };
    const note: NoteProgress = (stage, fraction) => {
      const since = work.done.stage === stage ? work.done.since : Date.now();
      work.done = { stage, fraction, since };
    };
    const abort = new AbortController();
    const commands = new CommandLog();
    const done = workingOn({ lease, token }, () => start(abort.signal, note, commands))
      .catch((error: unknown) => {
        log.error("lease failed unexpectedly", { lease, error: messageOf(error), ...traceFields(assignment.trace) });
      })
      .finally(() => {
        this.#leases.delete(lease);
        this.#waiting.remove(lease);
        void held.remove(lease);
      });
    this.#leases.set(lease, { assignment, work, abort, commands, done });
  }
}

// The leases of this node whose tasks wait for tasks of other leases. They have no slot meanwhile.

/** Each waiting task may also have an ffmpeg process that waits. */
const MAX_WAITING = 8;

class WaitingLeases {
  readonly #leases = new Set<LeaseId>();
  #isClosed = false;

  has(lease: LeaseId): boolean {
    return this.#leases.has(lease);
  }

  /** Removes a lease that has ended. */
  remove(lease: LeaseId): void {
    this.#leases.delete(lease);
  }

  /** After this call no task may start to wait. */
  close(): void {
    this.#isClosed = true;
  }

  /** Returns the functions with which a lease's task waits; `giveBack` gives its slot back. */
  of(lease: LeaseId, giveBack: () => void): WaitForOthers {
    return {
      begin: () => {
        if (this.#isClosed || this.#leases.size >= MAX_WAITING) return false;
        this.#leases.add(lease);
        giveBack();
        return true;
      },
      end: () => this.remove(lease),
    };
  }
}
