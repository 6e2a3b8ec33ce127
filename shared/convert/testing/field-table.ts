// Tables of fields in docs/migrating/.
import type { FieldRow } from "../note.ts";

const cell = (text: string): string => text.replaceAll("|", "\\|");

/** Returns the converted fields, then the lost fields. Fields with the same result share a row. */
export function fieldTable(rows: readonly FieldRow[]): string {
  const converted = rows.flatMap((row) => ("becomes" in row ? [{ field: row.field, text: row.becomes }] : []));
  const lost = rows.flatMap((row) => ("why" in row ? [{ field: row.field, text: row.why }] : []));
  return [table("becomes", converted), table("not carried over: why, and the alternative", lost)].join("\n\n");
}

function table(title: string, rows: readonly { readonly field: string; readonly text: string }[]): string {
  const groups = Map.groupBy(rows, ({ text }) => text);
  const lines = [...groups].map(([text, same]) => {
    const fields = same.map(({ field }) => `\`${cell(field)}\``).join(", ");
    return `| ${fields} | ${cell(text)} |`;
  });
  return [`| field | ${title} |`, "| --- | --- |", ...lines].join("\n");
}
