// The index of jobs.
import { and, eq, getTableColumns, gt, lte, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runBatch, runQuery } from "../run-query.ts";
import { jobs } from "../schema.ts";
import { addTagUsage } from "../usage/tag-usage.ts";
import { addUsage, LOST_USAGE } from "../usage/usage.ts";
import { packView, unpackView } from "./stored-view.ts";

/** Only lists need the duration, and only the audit the creator. */
const { tookMs: _took, createdBy: _by, createdFrom: _from, ...ROW } = getTableColumns(jobs);
type Row = typeof jobs.$inferSelect;
type Listed = "tookMs" | "createdBy" | "createdFrom";
export type JobRow = Omit<Row, Listed> & Partial<Pick<Row, Listed>>;

/**
 * Writes a job's row unless the stored row has a later version. The same version has the same content except the time
 * of the next check: a repeated request gives the job new time to start. Adds new usage of the job to its account.
 */
export async function upsertJob(db: D1Database, row: JobRow): Promise<void> {
  const values = { ...row, view: packView(row.view) };
  const { id: _id, accountId: _account, createdAt: _created, ...changed } = values;
  // A row without usage keeps the usage of earlier rounds, until the job ends again.
  const changing = { ...changed, usage: sql`coalesce(excluded.usage, ${jobs.usage})` };
  const written = drizzle(db)
    .insert(jobs)
    .values(values)
    .onConflictDoUpdate({ target: jobs.id, set: changing, setWhere: sql`excluded.version >= ${jobs.version}` });
  const isNewer = sql`stored.id IS NULL OR stored.version <= ${row.version}`;
  await runBatch(db, [...usageStatements(row, isNewer), written.getSQL()]);
}

/** The statements that add the new usage of a row, if it has usage. The row is written on the same condition. */
function usageStatements(row: Pick<Row, "id" | "accountId" | "completedAt" | "usage" | "tags">, condition: SQL): SQL[] {
  const { completedAt, usage, tags } = row;
  if (completedAt === null || usage === null) return [];
  const ended = { ...row, completedAt, usage };
  return [addUsage(ended, condition), ...(tags === null ? [] : [addTagUsage(ended, tags, condition)])];
}

/** Columns of the table by the members of a new job's row. */
const NEW_ROW = {
  id: "id",
  account_id: "accountId",
  status: "status",
  version: "version",
  created_at: "createdAt",
  completed_at: "completedAt",
  view: "view",
  check_at: "checkAt",
  search: "search",
  tags: "tags",
  created_by: "createdBy",
  created_from: "createdFrom",
} as const satisfies Record<string, keyof JobRow>;

/** The members of a list in JSON, as rows `one`. A single parameter: D1 allows 100 in a statement. */
export const eachOf = (list: readonly object[]): SQL => sql`json_each(${JSON.stringify(list)}) AS one`;

/** Inserts rows of new jobs that meet a condition about `one`. `conflict`: for a job that has a row. */
export function insertRows(rows: readonly JobRow[], condition: SQL, conflict: SQL): SQL {
  const [columns, members] = [Object.keys(NEW_ROW), Object.values(NEW_ROW)];
  const values = members.map((member) => sql.raw(`one.value ->> '${member}'`));
  const list = eachOf(rows.map((row) => ({ ...row, view: packView(row.view) })));
  return sql`
    INSERT INTO ${jobs} (${sql.raw(columns.join(", "))}) SELECT ${sql.join(values, sql`, `)} FROM ${list}
    WHERE ${condition} ON CONFLICT (id) ${conflict}`;
}

/** Stores rows of new jobs. A job that has a row gets new time to start. */
export async function insertJobs(db: D1Database, rows: readonly JobRow[]): Promise<void> {
  if (rows.length === 0) return;
  const again = sql`DO UPDATE SET check_at = excluded.check_at WHERE excluded.version >= ${jobs.version}`;
  await runBatch(db, [insertRows(rows, sql`true`, again)]);
}

/**
 * Writes the changes of a job's row. While the status stays the same, the update costs one row: no index contains the
 * version or the view. The time of the next check is indexed, so it stays as it is.
 */
export async function updateJob(db: D1Database, row: JobRow): Promise<void> {
  if (row.completedAt === null && (await updateView(db, row))) return;
  await upsertJob(db, row);
}

/** Writes the view and the tags. Returns false if the stored row has another status or a later version. */
export async function updateView(
  db: D1Database,
  { id, status, version, view, tags }: Pick<JobRow, "id" | "status" | "version" | "view" | "tags">,
): Promise<boolean> {
  const isSame = and(eq(jobs.id, id), eq(jobs.status, status), lte(jobs.version, version));
  const updated = drizzle(db)
    .update(jobs)
    .set({ version, view: packView(view), tags })
    .where(isSame);
  return (await runQuery(updated.run())).meta.changes > 0;
}

/** An account's job, or null. Jobs of other accounts are not found. */
export async function findJob(db: D1Database, accountId: string, id: string): Promise<JobRow | null> {
  const mine = and(eq(jobs.id, id), eq(jobs.accountId, accountId));
  const row = (await runQuery(drizzle(db).select(ROW).from(jobs).where(mine)))[0];
  return row ? { ...row, view: unpackView(row.view) } : null;
}

/** A job's row without its view. */
export type IndexedJob = Omit<JobRow, "view">;

/** The account's jobs with these ids. */
export function jobsOf(db: D1Database, accountId: string, ids: readonly string[]): Promise<IndexedJob[]> {
  const { view: _, ...columns } = ROW;
  const among = sql`${jobs.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
  return runQuery(
    drizzle(db)
      .select(columns)
      .from(jobs)
      .where(and(among, eq(jobs.accountId, accountId))),
  );
}

/** A job's row without its long texts. */
export type JobToCheck = Omit<JobRow, "view" | "search" | "usage">;

/** Jobs whose check is due, the longest overdue first. */
export function jobsToCheck(db: D1Database, now: number, limit: number): Promise<JobToCheck[]> {
  const { view: _view, search: _search, usage: _usage, ...columns } = ROW;
  return runQuery(
    drizzle(db).select(columns).from(jobs).where(lte(jobs.checkAt, now)).orderBy(jobs.checkAt).limit(limit),
  );
}

/** Jobs in the order of their ids, after the given id. */
export function jobsAfter(db: D1Database, id: string, limit: number): Promise<Pick<JobRow, "id" | "checkAt">[]> {
  const columns = { id: jobs.id, checkAt: jobs.checkAt };
  return runQuery(drizzle(db).select(columns).from(jobs).where(gt(jobs.id, id)).orderBy(jobs.id).limit(limit));
}

/** Sets the time of the next check; null: never, because only the row is kept of the job. */
export async function scheduleChecks(
  db: D1Database,
  checks: readonly { id: string; checkAt: number | null }[],
): Promise<void> {
  if (checks.length === 0) return;
  // A single statement for all jobs: D1 limits the number of statements in an invocation (D1 limits).
  await runBatch(db, [
    sql`
      UPDATE ${jobs} SET check_at = one.value ->> 'checkAt' FROM ${eachOf(checks)} WHERE ${jobs.id} = one.value ->> 'id'`,
  ]);
}

/**
 * Ends a job in the index whose object has no state, unless any column of the row has changed meanwhile. The version
 * stays the same, so that the object can still write the row if it has a state after all. Repeating the request creates
 * a new job, because the idempotency key of a lost job is free (idempotency.ts). A job without usage counts as failed.
 */
export async function endLostJob(
  db: D1Database,
  lost: Pick<JobRow, "id" | "accountId" | "version" | "checkAt" | "tags">,
  end: Pick<JobRow, "status" | "completedAt" | "view">,
): Promise<void> {
  const { id, version, checkAt } = lost;
  const unchanged = and(eq(jobs.id, id), eq(jobs.version, version), eq(jobs.checkAt, checkAt ?? 0));
  const ended = drizzle(db)
    .update(jobs)
    .set({ ...end, view: packView(end.view), usage: sql`coalesce(${jobs.usage}, ${LOST_USAGE})`, checkAt: null })
    .where(unchanged);
  const hasNone = sql`stored.version = ${version} AND stored.check_at = ${checkAt ?? 0} AND stored.usage IS NULL`;
  await runBatch(db, [...usageStatements({ ...lost, ...end, usage: LOST_USAGE }, hasNone), ended.getSQL()]);
}
