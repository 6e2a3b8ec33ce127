// Finds out how many requests at a time a host accepts.
import { untilAborted } from "../../async/in-parallel.ts";

/** The number of requests at a time that a host accepts: any number, until it refuses a request beside others. */
export class ConnectionLimit {
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
   * Ends a request. Returns true if a refused request may be sent again after the requests beside it. Returns false if
   * there are none, so that each retry without a delay lowers the limit.
   */
  end(isRefused: boolean): boolean {
    this.#running -= 1;
    const isBeside = isRefused && this.#running > 0;
    if (isBeside) this.#most = Math.min(this.#most, this.#running);
    const waiting = this.#waiting;
    // All waiting requests check again. Aborted requests need no slot.
    this.#waiting = [];
    for (const wake of waiting) wake();
    return isBeside;
  }
}
