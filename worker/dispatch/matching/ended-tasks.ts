// The tasks that leave their nodes: what their accounts have used, how they ended, and whether their nodes are to
// blame.
import type { TaskOutcome } from "#shared/protocol/frames.ts";
import type { TaskReport } from "../../rpc/hub-reports.ts";
import type { Charges } from "./charges.ts";
import type { NodeLimits } from "./nodes/node-limits.ts";
import type { Roster } from "./nodes/roster.ts";
import type { Running } from "./nodes/running-leases.ts";
import { TaskTimes } from "./task-times.ts";

type Deps = {
  readonly roster: Pick<Roster, "holder" | "get">;
  readonly charges: Charges;
  readonly limits: NodeLimits;
};

export class EndedTasks {
  readonly #deps: Deps;
  readonly #times = new TaskTimes();
  /** How tasks have ended whose nodes are about to release them. */
  readonly #outcomes = new Map<string, TaskOutcome>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  report(): TaskReport[] {
    return this.#times.report();
  }

  /** Nodes have got these tasks. */
  started(leases: readonly string[]): void {
    for (const lease of leases) this.#times.started(lease);
  }

  /** How the tasks of these leases ended, which their node then releases from the roster. */
  ending(leases: readonly string[], outcome: TaskOutcome): void {
    for (const lease of leases) if (this.#deps.roster.holder(lease)) this.#outcomes.set(lease, outcome);
  }

  /** A task has left the roster; false: only for a new connection of its node, which still works on it. */
  ended(running: Running, now: number): boolean {
    const { roster, charges, limits } = this.#deps;
    const { lease, jobId, nodeId } = running;
    if (roster.holder(lease)) return false;
    const seconds = charges.ended(running, now);
    const end = roster.get(nodeId) === null ? "lost" : (this.#outcomes.get(lease) ?? "released");
    this.#outcomes.delete(lease);
    this.#times.ended(lease, seconds, end);
    limits.ended(nodeId, jobId, now);
    return true;
  }
}
