// A signed value, such as URLs. It is signed again when a storage rejects it like an expired signature.
import { untilAborted } from "./in-parallel.ts";

/**
 * A value and its signature. A signature that has never worked is wrong, not expired. `mayHaveExpired` is true from the
 * start for the first signature, because it may have waited for long.
 */
export type Signed<Value> = { readonly value: Value; readonly at: number; mayHaveExpired: boolean };

/** Signatures are valid for at least 15 minutes. An older one may have expired, even if it has never worked. */
const FRESH_MS = 10 * 60_000;

export class Renewable<Value> {
  readonly #sign: () => Promise<Value>;
  #latest: Signed<Value>;
  #renewal: Promise<void> | null = null;

  constructor(first: Value, sign: () => Promise<Value>) {
    this.#sign = sign;
    this.#latest = { value: first, at: Date.now(), mayHaveExpired: true };
  }

  /** The current value. The caller sets `mayHaveExpired` when a request with it succeeds. */
  get latest(): Signed<Value> {
    return this.#latest;
  }

  /**
   * Call this after a storage rejected `used`. True when there is another value to try, false when a new signature
   * would not help. Concurrent callers share a renewal. Throws as `sign` does. An abort rejects at once with the
   * signal's reason and leaves the renewal to the other callers.
   */
  async renew(used: Signed<Value>, signal: AbortSignal): Promise<boolean> {
    if (this.#latest !== used) return true;
    if (!used.mayHaveExpired && Date.now() - used.at < FRESH_MS) return false;
    this.#renewal ??= this.#signAgain().finally(() => {
      this.#renewal = null;
    });
    await untilAborted(this.#renewal, signal);
    return true;
  }

  async #signAgain(): Promise<void> {
    this.#latest = { value: await this.#sign(), at: Date.now(), mayHaveExpired: false };
  }
}
