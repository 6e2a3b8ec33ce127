// Work on many things, a few at a time.

/** Does it to each, at most so many at the same time, and answers in the order of the items. Rejects with the first error. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
  return results;
}

/** The same, but the first error stops the others, and nothing is under way any more when it is thrown. */
export async function allOrNone<Item, Result>(
  items: readonly Item[],
  most: number,
  signal: AbortSignal,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const underway = new Set<Promise<Result>>();
  try {
    return await inParallel(items, most, async (item) => {
      either.throwIfAborted();
      const doing = work(item, either).finally(() => underway.delete(doing));
      underway.add(doing);
      return doing;
    });
  } finally {
    stop.abort();
    await Promise.allSettled(underway);
  }
}

/** Lets at most so many pieces of work be under way at a time, in the order in which they come. */
export function limiter(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((proceed) => waiting.push(proceed));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
