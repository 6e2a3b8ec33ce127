// Runs asynchronous work on many items, a limited number at a time.

/**
 * Calls `work` for each item, at most `limit` at a time, and returns the results in the order of the items. Rejects
 * with the first error, while other calls may still run.
 */
export async function mapLimited<Item, Value>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Value>,
): Promise<Value[]> {
  const results: Value[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}

/**
 * Like `mapLimited`, but the first error aborts the signal of the other calls. The function rejects after all calls
 * have ended.
 */
export async function mapLimitedOrAbort<Item, Value>(
  items: readonly Item[],
  limit: number,
  signal: AbortSignal,
  work: (item: Item, index: number, signal: AbortSignal) => Promise<Value>,
): Promise<Value[]> {
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const running = new Set<Promise<Value>>();
  try {
    return await mapLimited(items, limit, async (item, index) => {
      stopped.throwIfAborted();
      const call = work(item, index, stopped).finally(() => running.delete(call));
      running.add(call);
      return call;
    });
  } finally {
    stop.abort();
    await Promise.allSettled(running);
  }
}

/** Runs pieces of work in the order in which they are given, at most `limit` at a time. */
export class Limiter {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limit: number) {
    this.#free = limit;
  }

  /** True if new work would start at once. */
  get isFree(): boolean {
    return this.#free > 0;
  }

  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((start) => this.#waiting.push(start));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}

// Makes promises abortable that take no signal.

/** The promise's outcome, or a rejection with the signal's reason if the signal aborts first. */
export async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
