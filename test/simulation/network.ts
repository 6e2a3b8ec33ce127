// How requests between the parts travel: how long they take, and whether they arrive.

/**
 * What happens to a request: it does not arrive; it is executed and its answer is lost; or it is executed, and the
 * object that executed it dies.
 */
export const FATES = ["passes", "lost", "answer lost", "callee dies"] as const;
export type Fate = (typeof FATES)[number];

/** Between objects, to D1, of the Worker to others, and of nodes. */
export const WAYS = ["call", "query", "fetch", "node"] as const;
export type Way = (typeof WAYS)[number];

export interface Network {
  /** The time that a request takes which usually takes `usualMs`. */
  delayMs(usualMs: number): number;
  fateOf(way: Way): Fate;
}

/** All requests take the usual time and arrive. */
export const QUIET: Network = { delayMs: (usualMs) => usualMs, fateOf: () => "passes" };

/** Requests overtake each other, and during storms some are lost. */
export class RandomNetwork implements Network {
  readonly #random: () => number;
  /** The share of requests that something happens to, by way. */
  readonly storms: Record<Way, number> = { call: 0, query: 0, fetch: 0, node: 0 };

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A third to three times as long, and now and then thirty times. */
  delayMs(usualMs: number): number {
    const factor = 3 ** (2 * this.#random() - 1);
    return usualMs * (this.#random() < 0.01 ? 30 : factor);
  }

  fateOf(way: Way): Fate {
    if (this.#random() >= this.storms[way]) return "passes";
    return FATES[1 + Math.floor((way === "call" ? 3 : 2) * this.#random())] ?? "lost";
  }

  calm(): void {
    for (const way of WAYS) this.storms[way] = 0;
  }
}
