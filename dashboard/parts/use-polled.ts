// Polling of data that no event announces, while the page is visible.
import { paused } from "../core/account-events.ts";
import { type Resource, useResource } from "./use-resource.ts";

/** Loads data, and again every `ms` after the response. Pauses with live updates, and while the tab is hidden. */
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

// The schedule of polls.

/**
 * Returns the response. Calls `again` every `ms` after the response has arrived or failed, until `signal` is aborted. A
 * slow response delays the next poll.
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
