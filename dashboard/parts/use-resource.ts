// Data of the API in a component.
import { useCallback, useEffect, useState } from "preact/hooks";
import { paused } from "../core/account-events.ts";

export type Resource<Value> = {
  /** undefined until the first response. */
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly reload: () => void;
};

/**
 * Loads data when the component appears and when an entry of `inputs` changes. Aborts requests whose response is
 * obsolete.
 */
export function useResource<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Resource<Value> {
  const [state, setState] = useState<{ value?: Value; error?: unknown }>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => abort.signal.aborted || setState({ value }),
      (error) => abort.signal.aborted || setState((before) => ({ ...before, error })),
    );
    return () => abort.abort();
  }, [...inputs, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { value: state.value, error: state.error, reload };
}

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
