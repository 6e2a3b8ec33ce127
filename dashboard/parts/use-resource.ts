// Data of the API in a component.
import { useCallback, useEffect, useState } from "preact/hooks";

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
