/** Returns a random number in [0, 1): the position of a retry delay between zero and its maximum. */
export type Random = () => number;

export type BackoffPolicy = { readonly firstMs: number; readonly maxMs: number };

/**
 * Returns the delay before retry number `attempt` (from 1), in ms: exponential with full jitter, which distributes many
 * retrying clients best (AWS Architecture Blog, "Exponential Backoff And Jitter").
 */
export function backoffMs(attempt: number, policy: BackoffPolicy, random: Random): number {
  const ceiling = Math.min(policy.maxMs, policy.firstMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(ceiling * random());
}
