import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import bundled from "../../migrations/migrations.js";
import { applyMigrations } from "./migrate.ts";

const NAMES = bundled.journal.entries.map(({ tag }) => `${tag}.sql`);

afterEach(async () => {
  await reset();
  await applyMigrations(env.DB);
});

async function appliedNames(): Promise<string[]> {
  const { results } = await env.DB.prepare("SELECT name FROM d1_migrations ORDER BY id").all<{ name: string }>();
  return results.map(({ name }) => name);
}

/** Two isolates that have both read the list of migrations before one of them applies the first. */
function twoIsolates(): [D1Database, D1Database] {
  let waiting = 0;
  const both = Promise.withResolvers<void>();
  const handle = (): D1Database => {
    let calls = 0;
    const batch = async (statements: D1PreparedStatement[]): Promise<D1Result[]> => {
      calls += 1;
      if (calls === 2 && ++waiting === 2) both.resolve();
      if (calls === 2) await both.promise;
      return await env.DB.batch(statements);
    };
    return { prepare: (text: string) => env.DB.prepare(text), batch } as unknown as D1Database;
  };
  return [handle(), handle()];
}

it("applies each migration once when two isolates start together", async () => {
  await reset();
  await Promise.all(twoIsolates().map(applyMigrations));
  expect(await appliedNames()).toEqual(NAMES);
});

it("continues after migrations that wrangler applied, and applies nothing twice", async () => {
  await reset();
  // Wrangler sends a file's statements and the row of its table as one text.
  await env.DB.batch(
    [
      'CREATE TABLE IF NOT EXISTS "d1_migrations"(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)',
      ...(bundled.migrations.m0000 ?? "").split("--> statement-breakpoint"),
      `INSERT INTO "d1_migrations" (name) values ('${NAMES[0]}')`,
    ].map((text) => env.DB.prepare(text)),
  );
  await applyMigrations(env.DB);
  await applyMigrations(env.DB);
  expect(await appliedNames()).toEqual(NAMES);
});
