// Migrates the database, with the same table of applied migrations as `wrangler d1 migrations apply`, so that either
// can continue where the other stopped.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { unstable_splitSqlQuery } from "wrangler";

type Database = Awaited<ReturnType<Miniflare["getD1Database"]>>;

const BOOKKEEPING = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** Applies the folder's .sql files that were not applied yet, each in a transaction. Returns their names. */
export async function applyMigrations(database: Database, folder: string): Promise<string[]> {
  await database.prepare(BOOKKEEPING).run();
  const known = await database.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(known.results.map(({ name }) => name));
  const files = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const pending = files.filter((name) => !applied.has(name));
  for (const name of pending) {
    const statements = unstable_splitSqlQuery(await readFile(join(folder, name), "utf8"));
    const done = database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name);
    await database.batch([...statements.map((statement) => database.prepare(statement)), done]);
  }
  return pending;
}
