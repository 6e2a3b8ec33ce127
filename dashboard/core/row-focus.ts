// The rows of a table by keyboard. A row has the focus if an element in it has the focus.

/** The rows of a table that have an id. */
export const rowsOf = (table: ParentNode | null): HTMLElement[] => [
  ...(table?.querySelectorAll<HTMLElement>("tr[data-id]") ?? []),
];

/** The row with the focus, if any. */
export const focusedRow = (): HTMLElement | null => document.activeElement?.closest<HTMLElement>("tr[data-id]") ?? null;

/** Moves the focus to a row: to its link or button with the class `open`. */
export function focusRow(row: HTMLElement | undefined): void {
  row?.querySelector<HTMLElement>(".open")?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

/** Moves the focus by a row: down (1), or up (-1). Without a focused row, to the first or the last row. */
export function moveFocus(table: ParentNode | null, step: 1 | -1): void {
  const rows = rowsOf(table);
  const focused = focusedRow();
  const at = focused ? rows.indexOf(focused) : -1;
  const start = step > 0 || at >= 0 ? at : rows.length;
  focusRow(rows[Math.min(rows.length - 1, Math.max(0, start + step))]);
}
