// A database that counts, for tests: round trips, and the numbers that D1 reports: rows read and written (Cloudflare
// bills these), and the time of the statements.
import { env } from "cloudflare:workers";
import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";

export type Work = { calls: number; rowsRead: number; rowsWritten: number; ms: number };

/** Counts `raw` calls without their rows: drizzle makes them for typed selects, and D1 does not report their rows. */
export function measuredDatabase(db: D1Database): { db: D1Database; work: Work } {
  const work: Work = { calls: 0, rowsRead: 0, rowsWritten: 0, ms: 0 };
  const real = new WeakMap<object, D1PreparedStatement>();
  const count = <Results extends unknown[]>(results: Results): Results => {
    for (const result of results as { meta?: D1Meta }[]) {
      work.rowsRead += result.meta?.rows_read ?? 0;
      work.rowsWritten += result.meta?.rows_written ?? 0;
      work.ms += result.meta?.duration ?? 0;
    }
    return results;
  };
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get(target, name) {
        if (name === "bind") return (...values: unknown[]) => wrap(target.bind(...values));
        if (name !== "run" && name !== "all" && name !== "raw") return Reflect.get(target, name);
        return async () => {
          work.calls += 1;
          return name === "raw" ? target.raw() : count([await target[name]()])[0];
        };
      },
    });
    real.set(wrapped, statement);
    return wrapped;
  };
  const measured = new Proxy(db, {
    get(target, name) {
      if (name === "prepare") return (query: string) => wrap(target.prepare(query));
      if (name !== "batch") return Reflect.get(target, name);
      return async (statements: D1PreparedStatement[]) => {
        work.calls += 1;
        return count(await target.batch(statements.map((statement) => real.get(statement) ?? statement)));
      };
    },
  });
  return { db: measured, work };
}

/** The steps of a query's plan (EXPLAIN QUERY PLAN). */
export async function planOf(query: SQL): Promise<string[]> {
  const { sql, params } = new SQLiteSyncDialect().sqlToQuery(query);
  const plan = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .bind(...params)
    .all<{ detail: string }>();
  return plan.results.map(({ detail }) => detail);
}
