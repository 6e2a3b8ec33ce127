// How many requests at a time a host accepts: any number, until it refuses one beside others.
import { untilAborted } from "../../async/until-aborted.ts";

export class FallingLimit {
  #running = 0;
  #most = Number.POSITIVE_INFINITY;
  #waiting: (() => void)[] = [];

  /** Resolves when a request may be sent; the caller calls `end` once it is over. Rejects when `signal` aborts. */
  async begin(signal: AbortSignal): Promise<void> {
    while (this.#running >= this.#most) {
      await untilAborted(new Promise<void>((resolve) => this.#waiting.push(resolve)), signal);
    }
    this.#running += 1;
  }

  /**
   * A request is over. Returns whether a refused one may be sent again after those beside it: false when there are
   * none, so that each retry without a delay lowers the limit.
   */
  end(isRefused: boolean): boolean {
    this.#running -= 1;
    const isBeside = isRefused && this.#running > 0;
    if (isBeside) this.#most = Math.min(this.#most, this.#running);
    const waiting = this.#waiting;
    // All check again: those that were aborted need no turn.
    this.#waiting = [];
    for (const wake of waiting) wake();
    return isBeside;
  }
}
