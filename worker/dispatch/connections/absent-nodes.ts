// Nodes that have just lost their connections. Most return within seconds, so the split of a source into chunks still
// counts them.

/** Longer than the time over which nodes reconnect after a deploy. */
export const ABSENT_MS = 30_000;

/** In memory only. A hub that loses them plans for the connected nodes alone. */
export class AbsentNodes {
  readonly #absent = new Map<string, { readonly encodes: number; readonly until: number }>();

  /** Adds a node that would accept work and has lost its connection. `encodes`: its number of concurrent encodes. */
  add(nodeId: string, encodes: number, now: number): void {
    this.#absent.set(nodeId, { encodes, until: now + ABSENT_MS });
  }

  /** Removes a node that has returned. */
  delete(nodeId: string): void {
    this.#absent.delete(nodeId);
  }

  /** The number of encodes that the absent nodes can run at the same time. */
  encodes(now: number): number {
    for (const [nodeId, { until }] of this.#absent) if (until <= now) this.#absent.delete(nodeId);
    return [...this.#absent.values()].reduce((sum, { encodes }) => sum + encodes, 0);
  }
}
