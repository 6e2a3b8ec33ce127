// Follows the tasks on nodes: the time that their accounts use, their outcomes, and the faults of their nodes.
import { parseLeaseId, waitsForOthers } from "#shared/ids.ts";
import type { TaskOutcome } from "#shared/protocol/frames.ts";
import { DURATION_BOUNDS_S, type EndOfTask, type TaskReport } from "../../rpc/hub-reports.ts";
import type { NodeLimits } from "./nodes/node-limits.ts";
import type { EndedLease, Roster } from "./nodes/roster.ts";
import type { Accounts } from "./waiting/accounts.ts";

type Deps = {
  readonly roster: Pick<Roster, "holder" | "get">;
  readonly accounts: Accounts;
  readonly limits: NodeLimits;
};

export class Tasks {
  readonly #deps: Deps;
  readonly #times = new TaskTimes();
  /** Start of each task that needs a slot; ms since 1970. */
  readonly #startedAt = new Map<string, number>();
  /** Outcomes of tasks whose nodes are about to release them. */
  readonly #outcomes = new Map<string, TaskOutcome>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  report(): TaskReport[] {
    return this.#times.report();
  }

  /** Handles tasks that a node has got. They have no time if the node has gone. */
  started(leases: readonly string[], isConnected: boolean, now: number): void {
    for (const lease of leases) {
      this.#times.started(lease);
      if (isConnected && !waitsForOthers(lease)) this.#startedAt.set(lease, now);
    }
  }

  /** Records how the tasks of these leases ended, before their node releases them from the roster. */
  ending(leases: readonly string[], outcome: TaskOutcome): void {
    for (const lease of leases) if (this.#deps.roster.holder(lease)) this.#outcomes.set(lease, outcome);
  }

  /** Handles a task that has left the roster. The task continues if a newer connection of its node still has it. */
  ended({ lease, jobId, accountId, nodeId, slotClass }: EndedLease, now: number): void {
    const { roster, accounts, limits } = this.#deps;
    if (roster.holder(lease)) return;
    const startedAt = this.#startedAt.get(lease);
    const seconds = startedAt === undefined ? null : (now - startedAt) / 1000;
    const end = roster.get(nodeId) === null ? "lost" : (this.#outcomes.get(lease) ?? "released");
    this.#startedAt.delete(lease);
    this.#outcomes.delete(lease);
    if (seconds !== null) accounts.ended(accountId, slotClass, seconds, now);
    this.#times.ended(lease, seconds, end);
    limits.ended(nodeId, jobId, now);
  }
}

/**
 * Counts the tasks that have left their nodes, and the time that they took there. Pure, and in memory: readers of
 * metrics expect that counters restart.
 */
type Times = {
  retries: number;
  readonly outcomes: Record<EndOfTask, number>;
  readonly within: number[];
  timed: number;
  sumSeconds: number;
};

class TaskTimes {
  readonly #kinds = new Map<string, Times>();

  /** Counts a task that a node has got. */
  started(lease: string): void {
    if ((parseLeaseId(lease)?.attempt ?? 1) > 1) this.#of(lease).retries += 1;
  }

  /** Counts a task that has left its node. `seconds`: null if its start is unknown. */
  ended(lease: string, seconds: number | null, end: EndOfTask): void {
    const times = this.#of(lease);
    times.outcomes[end] += 1;
    if (end === "lost" || seconds === null) return;
    times.timed += 1;
    times.sumSeconds += seconds;
    for (const [at, bound] of DURATION_BOUNDS_S.entries()) {
      if (seconds <= bound) times.within[at] = (times.within[at] ?? 0) + 1;
    }
  }

  report(): TaskReport[] {
    return [...this.#kinds].map(([kind, times]) => structuredClone({ kind, ...times }));
  }

  #of(lease: string): Times {
    const kind = parseLeaseId(lease)?.kind ?? "other";
    const times = this.#kinds.get(kind) ?? noTimes();
    this.#kinds.set(kind, times);
    return times;
  }
}

const noTimes = (): Times => ({
  outcomes: { done: 0, failed: 0, returned: 0, cancelled: 0, released: 0, lost: 0 },
  retries: 0,
  within: DURATION_BOUNDS_S.map(() => 0),
  timed: 0,
  sumSeconds: 0,
});
