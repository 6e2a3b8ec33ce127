// The network between the parts: delays of requests, and losses.

/** Requests between objects, to D1, from the Worker to other servers, and from nodes. */
export const WAYS = ["call", "query", "fetch", "node"] as const;
export type Way = (typeof WAYS)[number];

/**
 * The faults of a request. `lost`: it does not arrive. The others are executed. `answer lost`: its answer is lost.
 * `caller dies`: the object that sent it dies. `callee dies`: the object that executed it dies, and its answer is lost.
 * `sent twice`: a node sends it again.
 */
export const FAULTY_FATES = {
  call: ["lost", "answer lost", "callee dies", "caller dies"],
  query: ["lost", "answer lost", "caller dies"],
  fetch: ["lost", "answer lost", "caller dies"],
  node: ["lost", "answer lost", "sent twice"],
} as const satisfies Record<Way, readonly string[]>;
export type FaultyFate = (typeof FAULTY_FATES)[Way][number];
export type Fate = "passes" | FaultyFate;

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
    const fates = FAULTY_FATES[way];
    return fates[Math.floor(fates.length * this.#random())] ?? "lost";
  }
}

/** Takes the usual time. A single request has a fault. Counts the requests while it is armed. */
export class SingleFault implements Network {
  readonly #fault: { readonly request: number; readonly fate: FaultyFate } | null;
  /** The ways of the requests so far. */
  readonly ways: Way[] = [];
  isArmed = false;

  constructor(fault: { readonly request: number; readonly fate: FaultyFate } | null) {
    this.#fault = fault;
  }

  get hasFault(): boolean {
    return this.#fault !== null;
  }

  delayMs(usualMs: number): number {
    return usualMs;
  }

  fateOf(way: Way): Fate {
    if (!this.isArmed) return "passes";
    this.ways.push(way);
    return this.#fault?.request === this.ways.length - 1 ? this.#fault.fate : "passes";
  }
}
