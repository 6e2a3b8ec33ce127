/**
 * Remembers texts for a while, in the memory of one isolate: others know nothing of them, and a restart forgets them all.
 * When it is full the oldest entry goes, so that nobody can fill the isolate.
 */
export class ShortMemory {
  readonly #until = new Map<string, number>();
  readonly #keepMs: number;
  readonly #maxEntries: number;

  constructor(keepMs: number, maxEntries: number) {
    this.#keepMs = keepMs;
    this.#maxEntries = maxEntries;
  }

  /** Remembers `text` from `now` (ms since 1970) on. */
  add(text: string, now: number): void {
    // Deleted first, so that the order of the map is the order of the times.
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
