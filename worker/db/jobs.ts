// The index of jobs.
import { and, eq, sql } from "drizzle-orm";
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

/** An account's job, or null: another account's job is as unknown as one that never was. */
export async function findJob(db: D1Database, accountId: string, id: string): Promise<JobRow | null> {
  const rows = await drizzle(db)
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, id), eq(jobs.accountId, accountId)));
  return rows[0] ?? null;
}
