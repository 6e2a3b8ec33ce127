// Places for requests to the Worker, shared by clients. A client that has used up its share waits without delaying
// others.

export type ShareLimits = {
  readonly total: number;
  /** Places for each network of clients (client-network.ts). */
  readonly perClient: number;
};

/** The most waiting requests of a client. */
const MAX_WAITING = 1000;

type Waiting = { readonly end: (isAdmitted: boolean) => void; readonly signal: AbortSignal };

export class ClientShares {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();
  /** Waiting requests by client. The client that was admitted last is at the end. */
  readonly #waiting = new Map<string, Waiting[]>();
  #total = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Takes a place if a place is free. */
  tryEnter(client: string): boolean {
    if (!this.#hasPlace(client)) return false;
    this.#total += 1;
    this.#held.set(client, (this.#held.get(client) ?? 0) + 1);
    return true;
  }

  /** Waits for a place. Returns false if too many requests of the client wait, or after `signal` was aborted. */
  async enter(client: string, signal: AbortSignal): Promise<boolean> {
    const waiting = this.#waiting.get(client) ?? [];
    if (waiting.length === 0 && this.tryEnter(client)) return true;
    if (waiting.length >= MAX_WAITING || signal.aborted) return false;
    this.#waiting.set(client, waiting);
    return new Promise((end) => {
      waiting.push({ end, signal });
      signal.addEventListener("abort", () => end(false), { once: true });
    });
  }

  /** Gives a place back. */
  leave(client: string): void {
    const held = (this.#held.get(client) ?? 0) - 1;
    if (held > 0) this.#held.set(client, held);
    else this.#held.delete(client);
    this.#total -= 1;
    this.#admitNext();
  }

  #hasPlace(client: string): boolean {
    return this.#total < this.#limits.total && (this.#held.get(client) ?? 0) < this.#limits.perClient;
  }

  /** Admits a request of the first waiting client that has a place left in its share. */
  #admitNext(): void {
    for (const [client, waiting] of this.#waiting) {
      if (!this.#hasPlace(client)) continue;
      const next = waiting.find(({ signal }) => !signal.aborted);
      const rest = next ? waiting.slice(waiting.indexOf(next) + 1) : [];
      this.#waiting.delete(client);
      if (rest.length > 0) this.#waiting.set(client, rest);
      if (!next) continue;
      this.tryEnter(client);
      next.end(true);
      return;
    }
  }
}
