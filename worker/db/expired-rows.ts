// Deletes expired rows of ended jobs and of idempotency keys. An index by age would cost a written row with each
// insert. Instead, sweeps read the tables in portions, from the first row to the last.
import { type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import * as z from "zod";
import { runBatch, runQuery } from "./run-query.ts";
import { idempotencyKeys, jobs, sweepPositions } from "./schema.ts";

/** The last row of a portion: its key in JSON, and its creation time. Empty: the table has no more rows. */
const Last = z.array(z.object({ position: z.string(), createdAt: z.int() }));
const Begun = z.array(z.object({ position: z.string().nullable(), startedAt: z.int() })).max(1);
type Portion = { position: string | null; before: number; rows: number };

/** Statements for a portion: find its last row, and delete its expired rows. */
type Expiring = {
  readonly rows: number;
  /** Pause between two searches. */
  readonly pauseMs: number;
  /** True if rows are in the order of their creation, so that the search may end early. */
  readonly isByAge: boolean;
  last(portion: Portion): SQL;
  remove(portion: Portion): SQL;
};

const MINUTE_MS = 60_000;
const JobPosition = z.int();
const KeyPosition = z.tuple([z.string(), z.string()]);

const afterJob = ({ position }: Portion): SQL =>
  sql`rowid > ${position === null ? 0 : JobPosition.parse(JSON.parse(position))} ORDER BY rowid`;

function afterKey({ position }: Portion): SQL {
  const [accountId, key] = position === null ? ["", ""] : KeyPosition.parse(JSON.parse(position));
  return sql`(account_id, key) > (${accountId}, ${key}) ORDER BY account_id, key`;
}

/**
 * Two million jobs a day are 83,000 an hour. A sweep reads up to 40 portions, so five of the 30 sweeps of an hour
 * delete them. Other requests wait for a portion, about 40 ms. An expired key does no harm: four searches a day, of up
 * to 7 million rows, are enough (docs/benchmarks.md).
 */
const EXPIRING = {
  /** Rowids increase with each row. Only rows of purged jobs are deleted; those rows have no next check. */
  jobs: {
    rows: 500,
    pauseMs: 60 * MINUTE_MS,
    isByAge: true,
    last: (portion) => sql`
      SELECT CAST(rowid AS TEXT) AS position, created_at AS createdAt
      FROM ${jobs} WHERE ${afterJob(portion)} LIMIT 1 OFFSET ${portion.rows - 1}`,
    remove: (portion) => sql`
      DELETE FROM ${jobs} WHERE rowid IN (
        SELECT at FROM (
          SELECT rowid AS at, check_at, completed_at FROM ${jobs} WHERE ${afterJob(portion)} LIMIT ${portion.rows})
        WHERE check_at IS NULL AND completed_at < ${portion.before})`,
  },
  idempotency_keys: {
    rows: 1000,
    pauseMs: 6 * 60 * MINUTE_MS,
    isByAge: false,
    last: (portion) => sql`
      SELECT json_array(account_id, key) AS position, created_at AS createdAt
      FROM ${idempotencyKeys} WHERE ${afterKey(portion)} LIMIT 1 OFFSET ${portion.rows - 1}`,
    remove: (portion) => sql`
      DELETE FROM ${idempotencyKeys} WHERE (account_id, key) IN (
        SELECT account_id, key FROM (
          SELECT account_id, key, created_at FROM ${idempotencyKeys} WHERE ${afterKey(portion)} LIMIT ${portion.rows})
        WHERE created_at < ${portion.before})`,
  },
} as const satisfies Record<string, Expiring>;
export type ExpiringTable = keyof typeof EXPIRING;

/** The statements of a portion, for tests of their query plans. */
export function portionQueries(table: ExpiringTable, position: string | null, before: number): [SQL, SQL] {
  const { last, remove, rows } = EXPIRING[table];
  const portion = { position, before, rows };
  return [last(portion), remove(portion)];
}

/**
 * Times in ms since 1970. Rows from before `before` are deleted; while the database is nearly full, rows from before
 * `whenFull`.
 */
export type Expiry = { readonly before: number; readonly whenFull: number };
export type ExpiryLimits = {
  readonly now: number;
  readonly maxPortions: number;
  readonly maxMs: number;
  /** The size limit of the database. At D1's limit every write fails. */
  readonly maxBytes: number;
};

/** Share of the limit above which the database is nearly full. */
const NEARLY_FULL = 0.8;

/**
 * Continues the search through a table, and deletes expired rows: jobs by their end, keys by their request. At a limit
 * the search stops, and the next call continues there. After the last row the search pauses. Returns true if the
 * database is nearly full.
 */
export async function deleteExpired(
  db: D1Database,
  table: ExpiringTable,
  expiry: Expiry,
  { now, maxPortions, maxMs, maxBytes }: ExpiryLimits,
): Promise<boolean> {
  const { pauseMs, isByAge } = EXPIRING[table];
  const stored = await runBatch(db, [
    sql`SELECT position, started_at AS startedAt FROM ${sweepPositions} WHERE name = ${table}`,
  ]);
  const [begun = { position: null, startedAt: Number.NEGATIVE_INFINITY }] = Begun.parse(stored[0]?.results);
  const isFull = (stored[0]?.meta.size_after ?? 0) > NEARLY_FULL * maxBytes;
  const before = isFull ? expiry.whenFull : expiry.before;
  if (begun.position === null && now < begun.startedAt + pauseMs) return isFull;
  const startedAt = begun.position === null ? now : begun.startedAt;
  let { position } = begun;
  for (let read = 0; read < maxPortions && Date.now() < now + maxMs; read++) {
    const [found] = await runBatch(db, portionQueries(table, position, before));
    const end = Last.parse(found?.results)[0];
    position = end && !(isByAge && end.createdAt > before) ? end.position : null;
    // Stored after each portion: the platform may end a sweep at any time.
    await runQuery(
      drizzle(db)
        .insert(sweepPositions)
        .values({ name: table, position, startedAt })
        .onConflictDoUpdate({ target: sweepPositions.name, set: { position, startedAt } }),
    );
    if (position === null) break;
  }
  return isFull;
}
