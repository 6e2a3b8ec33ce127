// The index of jobs.
import { and, desc, eq, exists, getTableColumns, gt, lt, lte, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { ask } from "./ask.ts";
import { idempotencyKeys, jobs } from "./schema.ts";

export type JobRow = typeof jobs.$inferSelect;

/**
 * Writes a job's row unless a later version of it lies there already. The same version again says the same, but for when
 * to check: a request that comes again has time to begin its job.
 */
export async function upsertJob(db: D1Database, row: JobRow): Promise<void> {
  const { id: _id, accountId: _account, createdAt: _created, ...changing } = row;
  await ask(
    drizzle(db)
      .insert(jobs)
      .values(row)
      .onConflictDoUpdate({ target: jobs.id, set: changing, setWhere: sql`excluded.version >= ${jobs.version}` }),
  );
}

/** Where a page of a list ends: the last job on it. */
export type Place = { createdAt: number; id: string };

/** An account's jobs, newest first: those after a place, of one status or of any. */
export async function listJobs(
  db: D1Database,
  accountId: string,
  wanted: { status: string | null; after: Place | null; limit: number },
): Promise<JobRow[]> {
  const { status, after, limit } = wanted;
  const older =
    after && or(lt(jobs.createdAt, after.createdAt), and(eq(jobs.createdAt, after.createdAt), lt(jobs.id, after.id)));
  return await ask(
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

/** An account's job, or null: another account's job is as unknown as one that never was. */
export async function findJob(db: D1Database, accountId: string, id: string): Promise<JobRow | null> {
  const mine = and(eq(jobs.id, id), eq(jobs.accountId, accountId));
  return (await ask(drizzle(db).select().from(jobs).where(mine)))[0] ?? null;
}

/** Whether there is a row of a job, whose account is not known. */
export async function hasJob(db: D1Database, id: string): Promise<boolean> {
  return (await ask(drizzle(db).select({ id: jobs.id }).from(jobs).where(eq(jobs.id, id)))).length > 0;
}

/** A job's row without its view, which is most of it. */
export type JobToCheck = Omit<JobRow, "view">;

/** Jobs that were to be looked at by now, those first that wait longest. */
export function jobsToCheck(db: D1Database, now: number, limit: number): Promise<JobToCheck[]> {
  const { view: _, ...columns } = getTableColumns(jobs);
  return ask(drizzle(db).select(columns).from(jobs).where(lte(jobs.checkAt, now)).orderBy(jobs.checkAt).limit(limit));
}

/** Some jobs by their ids, after a given one. */
export function jobsAfter(db: D1Database, id: string, limit: number): Promise<Pick<JobRow, "id" | "checkAt">[]> {
  const columns = { id: jobs.id, checkAt: jobs.checkAt };
  return ask(drizzle(db).select(columns).from(jobs).where(gt(jobs.id, id)).orderBy(jobs.id).limit(limit));
}

/** Says of jobs when to look again; null: never, nothing is kept of them. */
export async function checkAgain(
  db: D1Database,
  checks: readonly { id: string; checkAt: number | null }[],
): Promise<void> {
  if (checks.length === 0) return;
  // One statement, however many they are: an invocation may make only so many (D1 limits).
  const list = sql`json_each(${JSON.stringify(checks)}) AS one`;
  await ask(
    drizzle(db).run(sql`
      UPDATE ${jobs} SET check_at = one.value ->> 'checkAt' FROM ${list} WHERE ${jobs.id} = one.value ->> 'id'`),
  );
}

/**
 * Ends a job in the index whose object knows nothing of it, unless the row has changed, be it only that it is to be
 * checked later. The version stays: should the
 * object live after all, whatever it says next counts more. A client that repeats the request gets a new job.
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
  await ask(
    client.batch([
      client.delete(idempotencyKeys).where(and(itsKey, exists(client.select().from(jobs).where(unchanged)))),
      client
        .update(jobs)
        .set({ ...end, checkAt: null })
        .where(unchanged),
    ]),
  );
}
