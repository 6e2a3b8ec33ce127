// Nodes whose reports keep causing internal errors: they may not connect for a while.

/**
 * The number of internal errors within WINDOW_MS. A single broken report is given up sooner (job/lease-requests.ts).
 */
const MAX_FAILURES = 10;
const WINDOW_MS = 10 * 60_000;
/** How long such a node may not connect. */
export const EXCLUDED_MS = 10 * 60_000;

type Failures = { count: number; since: number; excludedUntil: number };

/** In memory only: when it is lost, the same number of errors excludes the node again. */
export class FailingNodes {
  readonly #failures = new Map<string, Failures>();

  /** Counts an internal error that a node's report caused; true: the node is excluded. */
  count(nodeId: string, now: number): boolean {
    const known = this.#failures.get(nodeId);
    const isRecent = known && now - known.since < WINDOW_MS;
    const failures = isRecent ? known : { count: 0, since: now, excludedUntil: 0 };
    failures.count += 1;
    if (failures.count >= MAX_FAILURES) failures.excludedUntil = now + EXCLUDED_MS;
    this.#failures.set(nodeId, failures);
    return failures.excludedUntil > now;
  }

  mayConnect(nodeId: string, now: number): boolean {
    const known = this.#failures.get(nodeId);
    if (known && Math.max(known.excludedUntil, known.since + WINDOW_MS) <= now) this.#failures.delete(nodeId);
    return (known?.excludedUntil ?? 0) <= now;
  }
}
