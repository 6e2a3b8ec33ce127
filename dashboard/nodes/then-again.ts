// When polling asks again. Pure but for its timer.

/**
 * The response; `again` is called every `ms` after it has arrived or failed, until `signal` is aborted. A slow response
 * is waited for.
 */
export async function thenAgain<Value>(
  response: Promise<Value>,
  signal: AbortSignal,
  ms: number,
  again: () => void,
): Promise<Value> {
  try {
    return await response;
  } finally {
    if (!signal.aborted) {
      const timer = setInterval(again, ms);
      signal.addEventListener("abort", () => clearInterval(timer), { once: true });
    }
  }
}
