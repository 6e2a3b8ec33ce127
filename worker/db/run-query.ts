// Runs queries with a time limit, and classifies their errors.
import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { withDeadline } from "../deadline.ts";
import { log } from "../log.ts";

/** D1 lets a query run for 30 s (D1 limits), and users have reported stalls of a minute. Callers give up sooner. */
const QUERY_LIMIT_MS = 5000;

/** Errors of SQLite or D1 for statements that are not valid: a retry would not help. */
const STATEMENT_ERROR =
  /SQLITE_(?:ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG)|D1_(?:TYPE|COLUMN|DUMP|EXEC)_?(?:NOTFOUND|ERROR)/;

/**
 * Runs a query. Throws AppError(service_unavailable) when the database is overloaded, cannot be reached, or does not
 * respond within five seconds. The write may have been executed anyway. Errors contain no value of the query.
 */
export async function runQuery<Value>(query: PromiseLike<Value>): Promise<Value> {
  try {
    return await withDeadline("query", query, QUERY_LIMIT_MS);
  } catch (error) {
    const reason = reasonOf(error);
    if (STATEMENT_ERROR.test(reason)) throw new Error(`The database rejected a query: ${reason}`);
    log.warn("database unavailable", { reason });
    throw new AppError("service_unavailable", "The service's database is temporarily unavailable; try again later");
  }
}

const dialect = new SQLiteSyncDialect();

/** Runs statements in one round trip and one transaction, and returns their results. Throws like runQuery. */
export function runBatch(db: D1Database, statements: readonly SQL[]): Promise<D1Result[]> {
  const prepared = statements.map((statement) => {
    const { sql, params } = dialect.sqlToQuery(statement);
    return db.prepare(sql).bind(...params);
  });
  return runQuery(db.batch(prepared));
}

/** The database's own message. Drizzle's message around it contains the query's values. */
const reasonOf = (error: unknown): string =>
  messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
