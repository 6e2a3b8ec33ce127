// Deletes expired rows of ended jobs, of idempotency keys and of the audit, found by indexes of their age.
import { type SQL, sql } from "drizzle-orm";
import { KEY_LIFE_MS } from "./jobs/idempotency.ts";
import { runBatch } from "./run-query.ts";
import { audit, idempotencyKeys, jobs } from "./schema.ts";

/** Rows of a portion. Other requests wait for a portion, about 40 ms. */
const PORTION = 500;

/** Statements that delete a portion of the rows from before a time, in ms since 1970. */
const EXPIRED = {
  /** By the end of the jobs. Only rows of purged jobs are deleted; those rows have no next check. */
  jobs: (before: number) => sql`
    DELETE FROM ${jobs} WHERE rowid IN (
      SELECT rowid FROM ${jobs} WHERE check_at IS NULL AND completed_at < ${before} LIMIT ${PORTION})`,
  idempotency_keys: (before: number) => sql`
    DELETE FROM ${idempotencyKeys} WHERE (account_id, key) IN (
      SELECT account_id, key FROM ${idempotencyKeys} WHERE created_at < ${before} LIMIT ${PORTION})`,
  audit: (before: number) => sql`
    DELETE FROM ${audit} WHERE (created_at, id) IN (
      SELECT created_at, id FROM ${audit} WHERE created_at < ${before} LIMIT ${PORTION})`,
} as const satisfies Record<string, (before: number) => SQL>;
export type ExpiringTable = keyof typeof EXPIRED;

/** The statement of a portion, for tests of its query plan. */
export const portionQuery = (table: ExpiringTable, before: number): SQL => EXPIRED[table](before);

/** Limits of a sweep for each table. */
type Limits = { readonly maxPortions: number; readonly maxMs: number };

/** Share of the size limit above which the database is nearly full. At D1's limit every write fails. */
const NEARLY_FULL = 0.8;

/**
 * Deletes expired keys, rows of jobs and audit entries. In a nearly full database, the latter two expire after
 * `retentionMs`. Returns true if the database is nearly full.
 */
export async function deleteOldRows(
  db: D1Database,
  now: number,
  settings: { readonly listMs: number; readonly retentionMs: number; readonly maxDatabaseBytes: number },
  limits: Limits,
): Promise<boolean> {
  const bytes = await deleteExpired(db, "idempotency_keys", now - KEY_LIFE_MS, limits);
  const isFull = bytes > NEARLY_FULL * settings.maxDatabaseBytes;
  const before = now - (isFull ? settings.retentionMs : settings.listMs);
  await deleteExpired(db, "audit", before, limits);
  await deleteExpired(db, "jobs", before, limits);
  return isFull;
}

/**
 * Deletes rows of a table from before a time. Two million jobs a day are 83,000 an hour: five of the 30 sweeps of an
 * hour delete them with 40 portions each. At a limit, the next call continues. Returns the database's size in bytes.
 */
export async function deleteExpired(
  db: D1Database,
  table: ExpiringTable,
  before: number,
  { maxPortions, maxMs }: Limits,
): Promise<number> {
  const end = Date.now() + maxMs;
  for (let portion = 1; ; portion++) {
    const [deleted] = await runBatch(db, [portionQuery(table, before)]);
    const isLast = (deleted?.meta.changes ?? 0) < PORTION;
    if (isLast || portion >= maxPortions || Date.now() >= end) return deleted?.meta.size_after ?? 0;
  }
}
