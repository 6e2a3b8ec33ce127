// The index of jobs.
import { and, desc, eq, lt, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { jobs } from "./schema.ts";

export type JobRow = typeof jobs.$inferSelect;

/** Writes a job's row unless a later version of it lies there already. */
export async function upsertJob(db: D1Database, row: JobRow): Promise<void> {
  const { id: _id, accountId: _account, createdAt: _created, ...changing } = row;
  await drizzle(db)
    .insert(jobs)
    .values(row)
    .onConflictDoUpdate({ target: jobs.id, set: changing, setWhere: sql`excluded.version > ${jobs.version}` });
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
  return await drizzle(db)
    .select()
    .from(jobs)
    .where(
      and(eq(jobs.accountId, accountId), status === null ? undefined : eq(jobs.status, status), older ?? undefined),
    )
    .orderBy(desc(jobs.createdAt), desc(jobs.id))
    .limit(limit);
}

/** An account's job, or null: another account's job is as unknown as one that never was. */
export async function findJob(db: D1Database, accountId: string, id: string): Promise<JobRow | null> {
  const rows = await drizzle(db)
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, id), eq(jobs.accountId, accountId)));
  return rows[0] ?? null;
}
