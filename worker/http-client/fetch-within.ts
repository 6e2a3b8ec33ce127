/**
 * `fetch` with a time limit for the whole exchange, until `read` has read the response's body. The timer never outlives
 * the exchange, because a pending timer keeps an object in memory.
 */
export async function fetchWithin<Value>(
  limitMs: number,
  request: Request,
  read: (response: Response) => Promise<Value>,
): Promise<Value> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new ResponseTimeout(`no response within ${limitMs / 1000} s`)), limitMs);
  try {
    return await read(await fetch(request, { signal: abort.signal, redirect: "manual" }));
  } finally {
    clearTimeout(timer);
  }
}

class ResponseTimeout extends Error {}

export const isResponseTimeout = (error: unknown): boolean => error instanceof ResponseTimeout;
