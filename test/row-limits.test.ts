// Each row that a client can make is counted, and has a size.
import { readFileSync } from "node:fs";
import { getTableColumns, is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { expect, it } from "vitest";

it("names the limits of each table with a column of accounts in docs/operating.md", async () => {
  const [, section = ""] = readFileSync("docs/operating.md", "utf8").split("## Rows of an account");
  const documented = [...section.matchAll(/^\| `([a-z_]+)` \| [^|]+ \| [^|]+ \|$/gm)].map(([, name]) => name);
  // The compiler knows no files of the Worker here.
  const schema: Record<string, unknown> = await import(new URL("../worker/db/schema.ts", import.meta.url).href);
  const tables = Object.values(schema).filter((table): table is SQLiteTable => is(table, SQLiteTable));
  const ofAccounts = tables.filter((table) => "accountId" in getTableColumns(table));
  expect(documented.toSorted()).toEqual(ofAccounts.map((table) => getTableConfig(table).name).toSorted());
});
