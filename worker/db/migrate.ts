// Brings the database to the schema of this version. `wrangler d1 migrations apply` keeps the same table, so that each
// continues where the other stopped.
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import bundled from "../../migrations/migrations.js";
import { log } from "../log.ts";
import { runBatch } from "./run-query.ts";

type Migration = { readonly name: string; readonly statements: readonly SQL[] };

const MIGRATIONS: readonly Migration[] = bundled.journal.entries.map(({ idx, tag }) => ({
  name: `${tag}.sql`,
  statements: (bundled.migrations[`m${String(idx).padStart(4, "0")}`] ?? "")
    .split("--> statement-breakpoint")
    .map((statement) => sql.raw(statement)),
}));

/** As wrangler creates it. */
const BOOKKEEPING = sql.raw(`CREATE TABLE IF NOT EXISTS d1_migrations(
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  name       TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`);

const Applied = z.array(z.object({ name: z.string() }));

async function appliedTo(db: D1Database): Promise<ReadonlySet<string>> {
  const [, rows] = await runBatch(db, [BOOKKEEPING, sql`SELECT name FROM d1_migrations`]);
  return new Set(Applied.parse(rows?.results).map(({ name }) => name));
}

/** True if this isolate has found the schema of its version. */
let isCurrent = false;

/** Applies the pending migrations once in each isolate: it is the first query of an isolate. Throws like runQuery. */
export async function ensureSchema(db: D1Database): Promise<void> {
  if (!isCurrent) await applyMigrations(db);
}

/** Applies the pending migrations, each in a transaction. Throws like runQuery. */
export async function applyMigrations(db: D1Database): Promise<void> {
  const applied = await appliedTo(db);
  for (const { name, statements } of MIGRATIONS.filter((migration) => !applied.has(migration.name))) {
    try {
      // The row comes first: after another isolate has applied the migration, this batch fails and changes nothing.
      await runBatch(db, [sql`INSERT INTO d1_migrations (name) VALUES (${name})`, ...statements]);
      log.info("migration applied", { name });
    } catch (error) {
      if (!(await appliedTo(db)).has(name)) throw error;
    }
  }
  isCurrent = true;
}
