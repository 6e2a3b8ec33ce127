// Counts the subrequests of each invocation of the Worker or of an object. Cloudflare limits them.
import { AsyncLocalStorage } from "node:async_hooks";

/** A request to the internet, an RPC call of an object, or a statement to D1. */
export type Subrequest = "fetch" | "call" | "query";

/**
 * Limits per invocation, a fifth below the limits of the Free plan
 * (developers.cloudflare.com/workers/platform/limits/#subrequests and /d1/platform/limits/, 2026-11).
 */
const BUDGETS: Readonly<Record<Subrequest, number>> = { fetch: 40, call: 800, query: 40 };

const invocations = new AsyncLocalStorage<(kind: Subrequest, count: number) => void>();

/** Counts subrequests of the current invocation. Nodes and tests make none. */
export const countSubrequests = (kind: Subrequest, count = 1): void => invocations.getStore()?.(kind, count);

/** The most subrequests of an invocation, by kind, with the name of this invocation. */
export class MostSubrequests {
  readonly #most = new Map<Subrequest, { readonly count: number; readonly by: string }>();

  /** Runs an invocation. */
  invoke<Value>(by: string, work: () => Value): Value {
    const counts = { fetch: 0, call: 0, query: 0 };
    const count = (kind: Subrequest, more: number): void => {
      counts[kind] += more;
      if (counts[kind] > (this.#most.get(kind)?.count ?? 0)) this.#most.set(kind, { count: counts[kind], by });
    };
    return invocations.run(count, work);
  }

  /** `4 fetch by JobObject` for each kind. */
  get report(): string[] {
    return [...this.#most].map(([kind, { count, by }]) => `${count} ${kind} by ${by}`);
  }

  get overBudget(): string[] {
    const over = [...this.#most].filter(([kind, { count }]) => count > BUDGETS[kind]);
    return over.map(([kind, { count, by }]) => `${by} made ${count} subrequests of the kind ${kind}`);
  }
}
