/**
 * Values that expire, in the memory of one isolate. A full map drops its oldest entry, so that clients cannot exhaust
 * the memory.
 */
export class ExpiringMap<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly until: number }>();
  readonly #keepMs: number;
  readonly #maxEntries: number;

  constructor(keepMs: number, maxEntries: number) {
    this.#keepMs = keepMs;
    this.#maxEntries = maxEntries;
  }

  /** Adds a value at `now` (ms since 1970). */
  set(key: string, value: Value, now: number): void {
    // Deleted first, so that the order of the map is the order of expiry.
    this.#entries.delete(key);
    this.#entries.set(key, { value, until: now + this.#keepMs });
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > this.#maxEntries && !oldest.done) this.#entries.delete(oldest.value);
  }

  get(key: string, now: number): Value | null {
    const entry = this.#entries.get(key);
    if (!entry) return null;
    if (entry.until > now) return entry.value;
    this.#entries.delete(key);
    return null;
  }

  /** The known value; otherwise the value that `lookUp` returns, which is remembered unless it is null. */
  async remember(key: string, now: number, lookUp: () => Promise<Value | null>): Promise<Value | null> {
    const known = this.get(key, now);
    const value = known ?? (await lookUp());
    if (known === null && value !== null) this.set(key, value, now);
    return value;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
