// Nodes whose reports the control plane fails at, again and again: they get no connection for a while.

/** So many internal errors within this time. One report that breaks something here is taken back before (job-object.ts). */
const MAX_FAULTS = 10;
const WINDOW_MS = 10 * 60_000;
/** How long such a node is not let in again. */
export const REST_MS = 10 * 60_000;

type Faults = { count: number; since: number; restUntil: number };

/** In memory only: what is forgotten costs no more than the same number of errors once more. */
export class FaultyNodes {
  readonly #faults = new Map<string, Faults>();

  /** Counts an internal error at a node's report; true: it must go. */
  note(nodeId: string, now: number): boolean {
    const known = this.#faults.get(nodeId);
    const isFresh = known && now - known.since < WINDOW_MS;
    const faults = isFresh ? known : { count: 0, since: now, restUntil: 0 };
    faults.count += 1;
    if (faults.count >= MAX_FAULTS) faults.restUntil = now + REST_MS;
    this.#faults.set(nodeId, faults);
    return faults.restUntil > now;
  }

  /** Whether the node may connect. */
  mayCome(nodeId: string, now: number): boolean {
    const known = this.#faults.get(nodeId);
    if (known && Math.max(known.restUntil, known.since + WINDOW_MS) <= now) this.#faults.delete(nodeId);
    return (known?.restUntil ?? 0) <= now;
  }
}
