import { useEffect, useState } from "preact/hooks";

/** What is fast should not flicker. */
const DELAY_MS = 250;

/** Stands where something will be, if that takes long enough to see. `what`: a word for it. */
export function Loading({ what }: { readonly what?: string }) {
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
