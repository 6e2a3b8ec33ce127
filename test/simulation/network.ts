// The network between the parts: delays of requests, and losses.

/**
 * The fate of a request. `lost`: it does not arrive. `answer lost`: it is executed, and its answer is lost. `callee
 * dies`: it is executed, and the object that executed it dies.
 */
export const FATES = ["passes", "lost", "answer lost", "callee dies"] as const;
export type Fate = (typeof FATES)[number];

/** Requests between objects, to D1, from the Worker to other servers, and from nodes. */
export const WAYS = ["call", "query", "fetch", "node"] as const;
export type Way = (typeof WAYS)[number];

export interface Network {
  /** The duration of a request that usually takes `usualMs`. */
  delayMs(usualMs: number): number;
  fateOf(way: Way): Fate;
}

/** All requests take the usual time and arrive. */
export const QUIET: Network = { delayMs: (usualMs) => usualMs, fateOf: () => "passes" };

/** Requests overtake each other. During storms, some are lost. */
export class RandomNetwork implements Network {
  readonly #random: () => number;
  /** The share of faulty requests, by way. */
  readonly storms: Record<Way, number> = { call: 0, query: 0, fetch: 0, node: 0 };

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A third to three times the usual time; in 1 % of the cases thirty times. */
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
