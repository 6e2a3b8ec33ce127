// Work that is asked for often and done now and then.

/** Runs soon after it was asked for, and not again before `ms` have passed. */
export class Throttle {
  readonly #ms: number;
  readonly #run: () => Promise<unknown>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ranAt = Number.NEGATIVE_INFINITY;

  constructor(ms: number, run: () => Promise<unknown>) {
    this.#ms = ms;
    this.#run = run;
  }

  soon(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#ranAt = performance.now();
        this.#run().catch(() => undefined);
      },
      Math.max(SHORT_MS, this.#ranAt + this.#ms - performance.now()),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** What is asked for at once is done once. */
const SHORT_MS = 200;
