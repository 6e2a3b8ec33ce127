// A node that fails the work of several jobs is quarantined: it gets a single task at a time, with growing pauses,
// until a task succeeds. Pure.

/** More faults than this among the last RECENT jobs put the node into quarantine. */
const MAX_FAULTS = 3;
const RECENT = 10;
/** The pause after the first fault in quarantine. Each further fault doubles the pause. */
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 60 * 60_000;

type Outcome = { readonly jobId: string; isFault: boolean };
type NodeHealth = { recent: Outcome[]; isQuarantined: boolean; pauseMs: number; pausedUntil: number };

/** The work that a node may get: any work, a single task at a time, or none. */
export type Allowance = "all" | "one" | "none";

/** In memory only. After the hub loses its memory, the same number of faults counts again. */
export class Health {
  readonly #nodes = new Map<string, NodeHealth>();

  /** 0 for a good node, 1 for a node that failed every recent job. */
  scoreOf(nodeId: string): number {
    const recent = this.#nodes.get(nodeId)?.recent ?? [];
    return recent.filter(({ isFault }) => isFault).length / RECENT;
  }

  allowanceOf(nodeId: string, now: number): Allowance {
    const node = this.#nodes.get(nodeId);
    if (!node?.isQuarantined) return "all";
    return now < node.pausedUntil ? "none" : "one";
  }

  /** Time at which the pause of a node ends; null: no pause. */
  resumesAt(nodeId: string, now: number): number | null {
    const until = this.#nodes.get(nodeId)?.pausedUntil ?? 0;
    return until > now ? until : null;
  }

  /**
   * Counts a fault of the node in a job's task. Several faults in the same job count once: the job may be the cause.
   */
  fault(nodeId: string, jobId: string, now: number): void {
    const node = this.#nodes.get(nodeId) ?? { recent: [], isQuarantined: false, pauseMs: 0, pausedUntil: 0 };
    this.#nodes.set(nodeId, node);
    const known = node.recent.find((outcome) => outcome.jobId === jobId);
    if (known?.isFault) return;
    if (known) known.isFault = true;
    else node.recent = [...node.recent, { jobId, isFault: true }].slice(-RECENT);
    if (node.recent.filter(({ isFault }) => isFault).length <= MAX_FAULTS) return;
    node.isQuarantined = true;
    node.pauseMs = node.pauseMs === 0 ? FIRST_PAUSE_MS : Math.min(2 * node.pauseMs, MAX_PAUSE_MS);
    node.pausedUntil = now + node.pauseMs;
  }

  /** Counts a job that a node has left without a known fault. The first success in quarantine ends the quarantine. */
  ended(nodeId: string, jobId: string, now: number): void {
    const node = this.#nodes.get(nodeId);
    // Nodes without faults have no entry.
    if (!node || node.recent.some((outcome) => outcome.jobId === jobId)) return;
    // The fault may be reported later. Then the node returns to quarantine, for a longer time.
    if (now >= node.pausedUntil) node.isQuarantined = false;
    node.recent = [...node.recent, { jobId, isFault: false }].slice(-RECENT);
    if (!node.recent.some(({ isFault }) => isFault)) this.#nodes.delete(nodeId);
  }
}
