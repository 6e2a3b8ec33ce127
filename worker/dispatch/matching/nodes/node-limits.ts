// Limits the work of nodes: cordoned nodes get none. A node that fails the work of several jobs is quarantined: it gets
// a single task at a time, with growing pauses, until a task succeeds.
import type { Roster } from "./roster.ts";

/** More faults than this among the last RECENT jobs put the node into quarantine. */
const MAX_FAULTS = 3;
const RECENT = 10;
/** The pause after the first fault in quarantine. Each further fault doubles the pause. */
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 60 * 60_000;

type Outcome = { readonly jobId: string; isFault: boolean };
type NodeHealth = { recent: Outcome[]; isQuarantined: boolean; pauseMs: number; pausedUntil: number };

/** The work that a node may get after its failures: any work, a single task at a time, or none. */
export type Allowance = "all" | "one" | "none";
const LIMITS = { all: null, one: 1, none: 0 } as const;

/** In memory only. After the hub loses its memory, the same number of faults counts again. */
export class NodeLimits {
  readonly #roster: Pick<Roster, "get" | "limit">;
  /** The recent jobs of nodes with faults. */
  readonly #health = new Map<string, NodeHealth>();
  /** The nodes that the operator has cordoned. */
  readonly #cordoned = new Set<string>();

  constructor(roster: Pick<Roster, "get" | "limit">) {
    this.#roster = roster;
  }

  /** Share of a node's recent work that failed by its fault, 0 to 1. */
  scoreOf(nodeId: string): number {
    const recent = this.#health.get(nodeId)?.recent ?? [];
    return recent.filter(({ isFault }) => isFault).length / RECENT;
  }

  allowanceOf(nodeId: string, now: number): Allowance {
    const node = this.#health.get(nodeId);
    if (!node?.isQuarantined) return "all";
    return now < node.pausedUntil ? "none" : "one";
  }

  /** Cordons or uncordons a node, also while it is not connected. */
  cordon(nodeId: string, isCordoned: boolean, now: number): void {
    if (isCordoned) this.#cordoned.add(nodeId);
    else this.#cordoned.delete(nodeId);
    this.#limit(nodeId, now);
  }

  /**
   * Counts a failed task of a job as the fault of these nodes. Several faults in the same job count once: the job may
   * be the cause.
   */
  blame(nodeIds: readonly string[], jobId: string, now: number): void {
    for (const nodeId of nodeIds) {
      const node = this.#health.get(nodeId) ?? { recent: [], isQuarantined: false, pauseMs: 0, pausedUntil: 0 };
      this.#health.set(nodeId, node);
      const known = node.recent.find((outcome) => outcome.jobId === jobId);
      if (known?.isFault) continue;
      if (known) known.isFault = true;
      else node.recent = [...node.recent, { jobId, isFault: true }].slice(-RECENT);
      if (node.recent.filter(({ isFault }) => isFault).length <= MAX_FAULTS) continue;
      node.isQuarantined = true;
      node.pauseMs = node.pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(2 * node.pauseMs, MAX_PAUSE_MS);
      node.pausedUntil = now + node.pauseMs;
      this.#limit(nodeId, now);
    }
  }

  /**
   * Counts a job that a node has left without a known fault. The first success in quarantine ends the quarantine. A
   * lost connection is no result.
   */
  ended(nodeId: string, jobId: string, now: number): void {
    const node = this.#health.get(nodeId);
    // Nodes without faults have no entry.
    if (!node || !this.#roster.get(nodeId) || node.recent.some((outcome) => outcome.jobId === jobId)) return;
    // The fault may be reported later. Then the node returns to quarantine, for a longer time.
    if (now >= node.pausedUntil) node.isQuarantined = false;
    node.recent = [...node.recent, { jobId, isFault: false }].slice(-RECENT);
    if (!node.recent.some(({ isFault }) => isFault)) this.#health.delete(nodeId);
    this.#limit(nodeId, now);
  }

  /** Ends the pauses that are over. Returns the times at which the other pauses end. */
  endPauses(now: number): number[] {
    return [...this.#health].flatMap(([nodeId, { pausedUntil }]) => {
      this.#limit(nodeId, now);
      return pausedUntil > now ? [pausedUntil] : [];
    });
  }

  #limit(nodeId: string, now: number): void {
    this.#roster.limit(nodeId, this.#cordoned.has(nodeId) ? 0 : LIMITS[this.allowanceOf(nodeId, now)]);
  }
}
