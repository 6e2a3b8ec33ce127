// Migrates the database, with the same table of applied migrations as `wrangler d1 migrations apply`, so that either
// can continue where the other stopped.
import type { Miniflare } from "miniflare";
import type { Migration } from "./service-parts.ts";

type Database = Awaited<ReturnType<Miniflare["getD1Database"]>>;

const BOOKKEEPING = `CREATE TABLE IF NOT EXISTS d1_migrations(
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/** Applies those that were not applied yet, each in a transaction. Returns their names. */
export async function applyMigrations(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  await database.prepare(BOOKKEEPING).run();
  const known = await database.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  const applied = new Set(known.results.map(({ name }) => name));
  const pending = migrations.filter(({ name }) => !applied.has(name));
  for (const { name, statements } of pending) {
    const done = database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name);
    await database.batch([...statements.map((statement) => database.prepare(statement)), done]);
  }
  return pending.map(({ name }) => name);
}
