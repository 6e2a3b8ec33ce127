/**
 * A set of texts that expire, in the memory of one isolate. A full set drops its oldest entry, so that clients cannot
 * exhaust the memory.
 */
export class ExpiringSet {
  readonly #until = new Map<string, number>();
  readonly #keepMs: number;
  readonly #maxEntries: number;

  constructor(keepMs: number, maxEntries: number) {
    this.#keepMs = keepMs;
    this.#maxEntries = maxEntries;
  }

  /** Adds `text` at `now` (ms since 1970). */
  add(text: string, now: number): void {
    // Deleted first, so that the order of the map is the order of expiry.
    this.#until.delete(text);
    this.#until.set(text, now + this.#keepMs);
    const oldest = this.#until.keys().next();
    if (this.#until.size > this.#maxEntries && !oldest.done) this.#until.delete(oldest.value);
  }

  has(text: string, now: number): boolean {
    const until = this.#until.get(text);
    if (until === undefined) return false;
    if (until > now) return true;
    this.#until.delete(text);
    return false;
  }
}
