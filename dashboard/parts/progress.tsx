import { percent } from "../core/format.ts";

/** A bar with its percentage as text. `value`: 0 to 1. */
export function Progress({ value, label }: { readonly value: number; readonly label: string }) {
  return (
    <span class="progress">
      <progress max={1} value={value} aria-label={label} />
      <span class="number">{percent(value)}</span>
    </span>
  );
}
