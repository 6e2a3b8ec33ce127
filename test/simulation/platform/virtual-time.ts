// Virtual time: a heap of events. While it is installed, `Date` and the timers of all modules follow it. A day passes
// as fast as its events are handled.
import { type Life, lives, outside } from "./lives.ts";

/** A planned event; `null` work if it is cancelled. */
export type Timer = { readonly at: number; readonly order: number; work: (() => void) | null };

const realImmediate = setImmediate;
const RealDate = Date;

/** Resolves after all microtasks. */
const microtasksDone = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

export class VirtualTime {
  #now: number;
  #order = 0;
  readonly #heap: Timer[] = [];
  /** Number of handled events. */
  events = 0;

  /** `now` in ms since 1970. */
  constructor(now: number) {
    this.#now = now;
  }

  get now(): number {
    return this.#now;
  }

  /** Plans an event. Events of the same time happen in the order of their planning. */
  after(delayMs: number, work: () => void): Timer {
    return this.at(this.#now + Math.max(0, delayMs), work);
  }

  at(at: number, work: () => void): Timer {
    const timer = { at: Math.max(at, this.#now), order: this.#order++, work };
    push(this.#heap, timer);
    return timer;
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Handles events until `done` or until a time; returns true if it is done. */
  async run(until: number, done: () => boolean = () => false): Promise<boolean> {
    await microtasksDone();
    while (!done()) {
      const next = this.#heap[0];
      if (!next || next.at > until) {
        this.#now = Math.max(this.#now, until);
        return done();
      }
      pop(this.#heap);
      if (next.work === null) continue;
      this.#now = next.at;
      this.events += 1;
      next.work();
      await microtasksDone();
    }
    return true;
  }

  /** Handles events that start nothing asynchronous, until a time or the last event. */
  runSync(until: number): void {
    for (let next = this.#heap[0]; next && next.at <= until; next = this.#heap[0]) {
      pop(this.#heap);
      if (next.work === null) continue;
      this.#now = next.at;
      this.events += 1;
      next.work();
    }
  }

  /** Replaces the clock and the timers of this process. */
  install(): void {
    const time = this;
    class VirtualDate extends RealDate {
      constructor(...from: [] | [string | number | Date]) {
        super(from[0] ?? Math.floor(time.now));
      }
      static override now(): number {
        return Math.floor(time.now);
      }
    }
    const running = new Map<Timer, Life>();
    const ended = (timer: Timer): void => {
      running.get(timer)?.end();
      running.delete(timer);
    };
    const start = (work: () => void, delayMs = 0): Timer => {
      const life = lives.getStore();
      const timer = time.after(delayMs, () => {
        ended(timer);
        if (!life) work();
        else if (!life.isOver) lives.run(life, work);
      });
      if (life) running.set(timer, life);
      life?.begin();
      return timer;
    };
    const clear = (timer: Timer | undefined): void => {
      if (!timer) return;
      timer.work = null;
      ended(timer);
    };
    const repeat = (work: () => void, everyMs: number): Timer => {
      const again = (): void => {
        timer.work = again;
        const { at, order } = time.after(everyMs, () => timer.work?.());
        Object.assign(timer, { at, order });
        work();
      };
      const timer: Timer = { at: 0, order: 0, work: again };
      time.after(everyMs, () => timer.work?.());
      return timer;
    };
    Object.assign(globalThis, {
      Date: VirtualDate,
      setTimeout: start,
      clearTimeout: clear,
      setInterval: repeat,
      clearInterval: clear,
      scheduler: { wait: (delayMs: number) => outside(() => time.sleep(delayMs)) },
    });
  }
}

const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Timer[], timer: Timer): void {
  let at = heap.length;
  heap.push(timer);
  while (at > 0) {
    const parentAt = (at - 1) >> 1;
    const parent = heap[parentAt];
    if (!parent || isBefore(parent, timer)) break;
    heap[at] = parent;
    at = parentAt;
  }
  heap[at] = timer;
}

function pop(heap: Timer[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let childAt = 2 * at + 1;
    let child = heap[childAt];
    const right = heap[childAt + 1];
    if (!child) break;
    if (right && isBefore(right, child)) {
      child = right;
      childAt += 1;
    }
    if (isBefore(last, child)) break;
    heap[at] = child;
    at = childAt;
  }
  heap[at] = last;
}
