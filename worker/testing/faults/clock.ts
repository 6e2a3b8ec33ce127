// The time of all objects in a test. Only the test changes it.
import { vi } from "vitest";

/** The distance to the real clock: no alarm rings by itself, and S3 still accepts signatures (15 minutes of skew). */
const AHEAD_MS = 2 * 60_000;

type Sleeper = { readonly at: number; readonly wake: () => void };

export class Clock {
  now = 0;
  #sleepers: Sleeper[] = [];

  constructor() {
    vi.useRealTimers();
    this.jump(Date.now() + AHEAD_MS);
  }

  /** Sets the time and wakes due sleepers. Never sets the time back. */
  jump(to: number): void {
    this.now = Math.max(this.now, Math.ceil(to));
    vi.setSystemTime(this.now);
    const due = this.#sleepers.filter(({ at }) => at <= this.now);
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.now);
    for (const { wake } of due) wake();
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#sleepers.push({ at: this.now + ms, wake }));
  }

  get sleepers(): number {
    return this.#sleepers.length;
  }

  /** The time when the next sleeper wakes. */
  get nextAt(): number | null {
    return this.#sleepers.length > 0 ? Math.min(...this.#sleepers.map(({ at }) => at)) : null;
  }
}
