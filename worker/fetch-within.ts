/**
 * `fetch` with a limit for the whole exchange: `read` gets the answer, and its body must be done with when it returns.
 * The timer never outlives the exchange, because a pending one keeps an object in memory.
 */
export async function fetchWithin<Value>(
  limitMs: number,
  request: Request,
  read: (response: Response) => Promise<Value>,
): Promise<Value> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new NoAnswerInTime(`no answer within ${limitMs / 1000} s`)), limitMs);
  try {
    return await read(await fetch(request, { signal: abort.signal, redirect: "manual" }));
  } finally {
    clearTimeout(timer);
  }
}

class NoAnswerInTime extends Error {}

export const isNoAnswerInTime = (error: unknown): boolean => error instanceof NoAnswerInTime;
