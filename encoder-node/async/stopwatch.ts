// Measures time.

/** Measures the time during which at least one piece of work runs. */
export class Stopwatch {
  #running = 0;
  #since = 0;
  #ms = 0;

  get ms(): number {
    return this.#ms + (this.#running > 0 ? performance.now() - this.#since : 0);
  }

  start(): void {
    if (this.#running++ === 0) this.#since = performance.now();
  }

  stop(): void {
    if (this.#running === 1) this.#ms += performance.now() - this.#since;
    this.#running -= 1;
  }
}
