// Limits the work of cordoned nodes, and of nodes that have failed.
import { type Allowance, Health } from "./health.ts";
import type { Roster } from "./roster.ts";

export class NodeLimits {
  readonly #roster: Pick<Roster, "get" | "limit" | "limited">;
  readonly #health = new Health();
  /** The nodes that the operator has cordoned. */
  readonly #cordoned = new Set<string>();

  constructor(roster: Pick<Roster, "get" | "limit" | "limited">) {
    this.#roster = roster;
  }

  /** 0 for a good node, 1 for a node that failed every recent job. */
  scoreOf(nodeId: string): number {
    return this.#health.scoreOf(nodeId);
  }

  /** The work that a node may get after its failures. */
  allowanceOf(nodeId: string, now: number): Allowance {
    return this.#health.allowanceOf(nodeId, now);
  }

  /** Cordons or uncordons a node, also while it is not connected. */
  cordon(nodeId: string, isCordoned: boolean, now: number): void {
    if (isCordoned) this.#cordoned.add(nodeId);
    else this.#cordoned.delete(nodeId);
    this.#limit(nodeId, now);
  }

  /** Counts a failed task of a job as the fault of these nodes. */
  blame(nodeIds: readonly string[], jobId: string, now: number): void {
    for (const nodeId of nodeIds) this.#health.fault(nodeId, jobId, now);
    for (const nodeId of nodeIds) this.#limit(nodeId, now);
  }

  /** Counts a job that a node no longer works on. A lost connection is no result. */
  ended(nodeId: string, jobId: string, now: number): void {
    if (this.#roster.get(nodeId)) this.#health.ended(nodeId, jobId, now);
    this.#limit(nodeId, now);
  }

  /** Ends the pauses that are over. */
  refresh(now: number): void {
    for (const nodeId of [...this.#roster.limited()]) this.#limit(nodeId, now);
  }

  /** The times at which the pauses of nodes end. */
  resumeTimes(now: number): number[] {
    return [...this.#roster.limited()].flatMap((nodeId) => this.#health.resumesAt(nodeId, now) ?? []);
  }

  #limit(nodeId: string, now: number): void {
    const allowance = this.#cordoned.has(nodeId) ? "none" : this.#health.allowanceOf(nodeId, now);
    this.#roster.limit(nodeId, allowance === "all" ? null : allowance === "one" ? 1 : 0);
  }
}
