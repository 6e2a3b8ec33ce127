// How much work each node may get: what the operator has cordoned, and what nodes have failed.
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

  /** 0 for a good node, 1 for one that failed every recent job. */
  scoreOf(nodeId: string): number {
    return this.#health.scoreOf(nodeId);
  }

  /** What a node may get after what it has failed. */
  allowanceOf(nodeId: string, now: number): Allowance {
    return this.#health.allowanceOf(nodeId, now);
  }

  /** A node gets no more work, or gets work again; also while it is not connected. */
  cordon(nodeId: string, isCordoned: boolean, now: number): void {
    if (isCordoned) this.#cordoned.add(nodeId);
    else this.#cordoned.delete(nodeId);
    this.#limit(nodeId, now);
  }

  /** A job's task has failed by the fault of these nodes. */
  blame(nodeIds: readonly string[], jobId: string, now: number): void {
    for (const nodeId of nodeIds) this.#health.fault(nodeId, jobId, now);
    for (const nodeId of nodeIds) this.#limit(nodeId, now);
  }

  /** A node no longer works on a job. A lost connection is no result. */
  ended(nodeId: string, jobId: string, now: number): void {
    if (this.#roster.get(nodeId)) this.#health.ended(nodeId, jobId, now);
    this.#limit(nodeId, now);
  }

  /** Ends the pauses that are over. */
  refresh(now: number): void {
    for (const nodeId of [...this.#roster.limited()]) this.#limit(nodeId, now);
  }

  /** When the pauses of nodes end. */
  resumeTimes(now: number): number[] {
    return [...this.#roster.limited()].flatMap((nodeId) => this.#health.resumesAt(nodeId, now) ?? []);
  }

  #limit(nodeId: string, now: number): void {
    const allowance = this.#cordoned.has(nodeId) ? "none" : this.#health.allowanceOf(nodeId, now);
    this.#roster.limit(nodeId, allowance === "all" ? null : allowance === "one" ? 1 : 0);
  }
}
