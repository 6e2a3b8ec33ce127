// The index of jobs.
import { and, desc, eq, exists, getTableColumns, gt, lt, lte, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { runQuery } from "./run-query.ts";
import { idempotencyKeys, jobs } from "./schema.ts";

export type JobRow = typeof jobs.$inferSelect;

/**
 * Writes a job's row unless the stored row has a later version. The same version has the same content, except the time
 * of the next check: a repeated request gets new time to start its job.
 */
export async function upsertJob(db: D1Database, row: JobRow): Promise<void> {
  const { id: _id, accountId: _account, createdAt: _created, ...changing } = row;
  await runQuery(
    drizzle(db)
      .insert(jobs)
      .values(row)
      .onConflictDoUpdate({ target: jobs.id, set: changing, setWhere: sql`excluded.version >= ${jobs.version}` }),
  );
}

/** The end of a page of a list: its last job. */
export type Place = { createdAt: number; id: string };

/** An account's jobs after a place, newest first, of one status or of any. */
export async function listJobs(
  db: D1Database,
  accountId: string,
  wanted: { status: string | null; after: Place | null; limit: number },
): Promise<JobRow[]> {
  const { status, after, limit } = wanted;
  const older =
    after && or(lt(jobs.createdAt, after.createdAt), and(eq(jobs.createdAt, after.createdAt), lt(jobs.id, after.id)));
  return await runQuery(
    drizzle(db)
      .select()
      .from(jobs)
      .where(
        and(eq(jobs.accountId, accountId), status === null ? undefined : eq(jobs.status, status), older ?? undefined),
      )
      .orderBy(desc(jobs.createdAt), desc(jobs.id))
      .limit(limit),
  );
}

/** An account's job, or null. Jobs of other accounts are not found. */
export async function findJob(db: D1Database, accountId: string, id: string): Promise<JobRow | null> {
  const mine = and(eq(jobs.id, id), eq(jobs.accountId, accountId));
  return (await runQuery(drizzle(db).select().from(jobs).where(mine)))[0] ?? null;
}

/** A job's row without its view, which is most of it. */
export type JobToCheck = Omit<JobRow, "view">;

/** Jobs whose check is due, the longest due first. */
export function jobsToCheck(db: D1Database, now: number, limit: number): Promise<JobToCheck[]> {
  const { view: _, ...columns } = getTableColumns(jobs);
  return runQuery(
    drizzle(db).select(columns).from(jobs).where(lte(jobs.checkAt, now)).orderBy(jobs.checkAt).limit(limit),
  );
}

/** Jobs in the order of their ids, after a given id. */
export function jobsAfter(db: D1Database, id: string, limit: number): Promise<Pick<JobRow, "id" | "checkAt">[]> {
  const columns = { id: jobs.id, checkAt: jobs.checkAt };
  return runQuery(drizzle(db).select(columns).from(jobs).where(gt(jobs.id, id)).orderBy(jobs.id).limit(limit));
}

/** Sets when jobs are checked next; null: never, because nothing is kept of them. */
export async function scheduleChecks(
  db: D1Database,
  checks: readonly { id: string; checkAt: number | null }[],
): Promise<void> {
  if (checks.length === 0) return;
  // A single statement, because the number of statements in an invocation is limited (D1 limits).
  const list = sql`json_each(${JSON.stringify(checks)}) AS one`;
  await runQuery(
    drizzle(db).run(sql`
      UPDATE ${jobs} SET check_at = one.value ->> 'checkAt' FROM ${list} WHERE ${jobs.id} = one.value ->> 'id'`),
  );
}

/**
 * Ends a job in the index whose object has no state, unless any column of the row has changed meanwhile. The version
 * stays the same, so that the object can still write the row if it has a state after all. Repeating the request creates
 * a new job.
 */
export async function endLostJob(
  db: D1Database,
  lost: Pick<JobRow, "id" | "accountId" | "version" | "checkAt">,
  end: Pick<JobRow, "status" | "completedAt" | "view">,
): Promise<void> {
  const { id, accountId, version, checkAt } = lost;
  const client = drizzle(db);
  const unchanged = and(eq(jobs.id, id), eq(jobs.version, version), eq(jobs.checkAt, checkAt ?? 0));
  const itsKey = and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.jobId, id));
  await runQuery(
    client.batch([
      client.delete(idempotencyKeys).where(and(itsKey, exists(client.select().from(jobs).where(unchanged)))),
      client
        .update(jobs)
        .set({ ...end, checkAt: null })
        .where(unchanged),
    ]),
  );
}
