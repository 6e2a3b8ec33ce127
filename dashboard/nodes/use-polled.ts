// Data that no event announces: read again and again while somebody looks.
import { useEffect } from "preact/hooks";
import { paused } from "../core/account-events.ts";
import { type Resource, useResource } from "../parts/use-resource.ts";

/** Loads, and again `ms` after each response; not while live updates are paused or the tab is hidden. */
export function usePolled<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
  ms: number,
): Resource<Value> {
  const resource = useResource(load, inputs);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!paused.peek() && !document.hidden) resource.reload();
    }, ms);
    return () => clearInterval(timer);
  }, [resource.reload, ms]);
  return resource;
}
