// Data that no event announces: read again and again while somebody looks.
import { paused } from "../core/account-events.ts";
import { type Resource, useResource } from "./use-resource.ts";

/** Loads, and again `ms` after each response; not while live updates are paused or the tab is hidden. */
export function usePolled<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
  ms: number,
): Resource<Value> {
  const again = (): void => {
    if (!paused.peek() && !document.hidden) resource.reload();
  };
  const resource: Resource<Value> = useResource((signal) => thenAgain(load(signal), signal, ms, again), inputs);
  return resource;
}

// When polling asks again.

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
