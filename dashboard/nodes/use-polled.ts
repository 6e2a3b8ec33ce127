// Data that no event announces: read again and again while somebody looks.
import { paused } from "../core/account-events.ts";
import { type Resource, useResource } from "../parts/use-resource.ts";
import { thenAgain } from "./then-again.ts";

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
