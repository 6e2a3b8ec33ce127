// Checks whether the database has a credential, for networks that send unknown credentials. Reads all credentials at
// once, so that guesses cost few queries. A client with a valid credential is not locked out by others at the same
// address.
import { type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import * as z from "zod";
import { runQuery } from "../../db/run-query.ts";
import { apiKeys, ingestTokens, nodeTokens, sessionLinks } from "../../db/schema.ts";

/** Length of a digest's start: 64 bits. It only decides whether a credential is looked up. */
const DIGEST_CHARS = 16;
/** Interval between two reads of the credentials: new credentials are known after this time; ms. */
const REREAD_MS = 5000;
/**
 * About 100 bytes each: 10 MB. Credentials beyond this number are looked up only while their network is not blocked.
 */
const MAX_READ = 100_000;

const Rows = z.array(z.object({ start: z.string() }));

export class KnownCredentials {
  #starts: ReadonlySet<string> | null = null;
  #readAt = 0;

  /** True if the credential with this digest may be valid. Throws AppError when the database is unavailable. */
  async has(db: D1Database, digest: string, now: number): Promise<boolean> {
    const start = digest.slice(0, DIGEST_CHARS);
    if (this.#starts?.has(start)) return true;
    if (this.#starts && now < this.#readAt + REREAD_MS) return false;
    this.#readAt = now;
    this.#starts = await readStarts(db);
    return this.#starts.has(start);
  }
}

async function readStarts(db: D1Database): Promise<ReadonlySet<string>> {
  const startOf = (table: SQL): SQL => sql`SELECT substr(digest, 1, ${DIGEST_CHARS}) AS start FROM ${table}`;
  const valid = sql.join(
    [
      startOf(sql`${apiKeys} WHERE revoked_at IS NULL`),
      startOf(sql`${nodeTokens} WHERE revoked_at IS NULL`),
      startOf(sql`${sessionLinks}`),
      startOf(sql`${ingestTokens}`),
    ],
    sql` UNION ALL `,
  );
  const rows = await runQuery(drizzle(db).all(sql`${valid} LIMIT ${MAX_READ}`));
  return new Set(Rows.parse(rows).map(({ start }) => start));
}
