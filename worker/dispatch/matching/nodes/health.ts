// Nodes that fail the work of several jobs get one task at a time, with growing pauses, until one succeeds. Pure.

/** So many of the last RECENT jobs that failed by the node's fault put it into quarantine. */
const MAX_FAULTS = 3;
const RECENT = 10;
/** The pause after the first fault in quarantine; it doubles with each further one. */
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 60 * 60_000;

type Outcome = { readonly jobId: string; isFault: boolean };
type NodeHealth = { recent: Outcome[]; isQuarantined: boolean; pauseMs: number; pausedUntil: number };

/** What a node may get: any work, one task at a time, or none. */
export type Allowance = "all" | "one" | "none";

/** In memory only: when it is lost, the same number of faults counts again. */
export class Health {
  readonly #nodes = new Map<string, NodeHealth>();

  /** 0 for a good node, 1 for one that failed every recent job. */
  scoreOf(nodeId: string): number {
    const recent = this.#nodes.get(nodeId)?.recent ?? [];
    return recent.filter(({ isFault }) => isFault).length / RECENT;
  }

  allowanceOf(nodeId: string, now: number): Allowance {
    const node = this.#nodes.get(nodeId);
    if (!node?.isQuarantined) return "all";
    return now < node.pausedUntil ? "none" : "one";
  }

  /** When the pause of a node ends; null when it has none. */
  resumesAt(nodeId: string, now: number): number | null {
    const until = this.#nodes.get(nodeId)?.pausedUntil ?? 0;
    return until > now ? until : null;
  }

  /** A job's task has failed by the node's fault. Several failures of one job count once: it may be the job. */
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

  /** A node no longer works on a job, and no fault is known. The first success in quarantine ends it. */
  ended(nodeId: string, jobId: string, now: number): void {
    const node = this.#nodes.get(nodeId);
    // Of nodes without faults nothing is kept.
    if (!node || node.recent.some((outcome) => outcome.jobId === jobId)) return;
    // Its fault may still be reported: then the node returns to quarantine, and for longer.
    if (now >= node.pausedUntil) node.isQuarantined = false;
    node.recent = [...node.recent, { jobId, isFault: false }].slice(-RECENT);
    if (!node.recent.some(({ isFault }) => isFault)) this.#nodes.delete(nodeId);
  }
}
