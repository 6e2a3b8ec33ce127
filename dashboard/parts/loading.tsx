import { useEffect, useState } from "preact/hooks";

/** Data that arrives sooner causes no flicker. */
const DELAY_MS = 250;

/** A placeholder for data that takes long to load. `what`: the name of the data. */
export function Loading({ what }: { readonly what?: string | undefined }) {
  const [isShown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="loading muted" role="status">
      {isShown && (what === undefined ? "Loading …" : `Loading ${what} …`)}
    </p>
  );
}
