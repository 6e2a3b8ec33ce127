// The one way in which the database is asked: it answers in time, or the caller learns that it does not.
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { log } from "../env.ts";

/** D1 lets a query run for 30 s (D1 limits), and stalls of a minute were reported: callers have given up by then. */
const ANSWER_LIMIT_MS = 5000;

/** What SQLite, or D1 before it, says of statements that are wrong in themselves: to ask again would not help. */
const MISTAKE = /SQLITE_(?:ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG)|D1_(?:TYPE|COLUMN|DUMP|EXEC)_?(?:NOTFOUND|ERROR)/;

/**
 * The answer to a query. Throws AppError(service_unavailable) when the database is overloaded, cannot be reached, or
 * does not answer within five seconds; a query that writes may have been carried out all the same. What it throws
 * names no value of the query.
 */
export async function ask<Value>(query: PromiseLike<Value>): Promise<Value> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new Error(`no answer within ${ANSWER_LIMIT_MS / 1000} s`));
  const timer = setTimeout(giveUp, ANSWER_LIMIT_MS);
  try {
    return await Promise.race([query, silence]);
  } catch (error) {
    const reason = reasonOf(error);
    if (MISTAKE.test(reason)) throw new Error(`The database refused a query: ${reason}`);
    log.warn("The database does not answer", { reason });
    throw new AppError(
      "service_unavailable",
      "The service's database does not answer right now; please try again in a moment",
    );
  } finally {
    // A pending one would keep an object in memory.
    clearTimeout(timer);
  }
}

/** The database's own words: those around it (of Drizzle) carry the query's values. */
const reasonOf = (error: unknown): string =>
  messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
