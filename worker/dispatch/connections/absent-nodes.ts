// Nodes that have just lost their connections. Most are back within seconds, so sources are split into chunks for them,
// too.

/** Longer than the time over which nodes reconnect after a deploy. */
export const ABSENT_MS = 30_000;

/** In memory only: a hub that loses it plans for the nodes that are connected. */
export class AbsentNodes {
  readonly #absent = new Map<string, { readonly encodes: number; readonly until: number }>();

  /** A node that would accept work has lost its connection; it can run so many encodes at the same time. */
  add(nodeId: string, encodes: number, now: number): void {
    this.#absent.set(nodeId, { encodes, until: now + ABSENT_MS });
  }

  /** A node is back. */
  delete(nodeId: string): void {
    this.#absent.delete(nodeId);
  }

  /** The number of encodes that they can run at the same time. */
  encodes(now: number): number {
    for (const [nodeId, { until }] of this.#absent) if (until <= now) this.#absent.delete(nodeId);
    return [...this.#absent.values()].reduce((sum, { encodes }) => sum + encodes, 0);
  }
}
