import type { ComponentChildren } from "preact";
import { Scroll } from "./scroll.tsx";

/** A column: its title, its cells, and their class. Cells of the class `head` name their row. */
export type Column<Row> = readonly [
  title: ComponentChildren,
  cell: (row: Row) => ComponentChildren,
  kind?: "number" | "mono" | "head",
];

type Props<Row> = {
  /** The name of the table, for people who do not see it. */
  readonly label: string;
  /** Columns that are false are left out. */
  readonly columns: readonly (Column<Row> | false)[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly class?: string;
  /** A text in place of rows. */
  readonly empty?: string;
  /** The cells of a last row with sums. */
  readonly sums?: readonly ComponentChildren[];
};

/** A table that scrolls by itself if it is wider than the page. */
export function Table<Row>({ label, columns, rows, keyOf, class: look, empty, sums }: Props<Row>) {
  const visible = columns.filter((column) => column !== false);
  const cells = (row: readonly ComponentChildren[]) =>
    row.map((content, at) => {
      const kind = visible[at]?.[2];
      const Cell = kind === "head" ? "th" : "td";
      return (
        <Cell key={at} scope={kind === "head" ? "row" : undefined} class={kind}>
          {content}
        </Cell>
      );
    });
  return (
    <Scroll label={label} class={look}>
      <table>
        <thead>
          <tr>
            {visible.map(([title, , kind], at) => (
              <th key={at} scope="col" class={kind === "number" ? kind : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>{cells(visible.map(([, cell]) => cell(row)))}</tr>
          ))}
          {rows.length === 0 && empty !== undefined && (
            <tr>
              <td colSpan={visible.length} class="muted">
                {empty}
              </td>
            </tr>
          )}
        </tbody>
        {sums && (
          <tfoot>
            <tr>{cells(sums)}</tr>
          </tfoot>
        )}
      </table>
    </Scroll>
  );
}
