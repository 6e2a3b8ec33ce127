/** A bar with its percentage as text. `value`: 0 to 1. */
export function Progress({ value, label }: { readonly value: number; readonly label: string }) {
  const percent = `${Math.floor(Math.min(1, Math.max(0, value)) * 100)} %`;
  return (
    <span class="progress">
      <progress max={1} value={value} aria-label={label} />
      <span class="number">{percent}</span>
    </span>
  );
}
