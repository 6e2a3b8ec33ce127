// Rules of alerts, and the jobs that they concern.
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import * as z from "zod";
import { runBatch, runQuery } from "./run-query.ts";
import { accounts, alerts, jobs } from "./schema.ts";

export type AlertRow = typeof alerts.$inferSelect;

export const listAlerts = (db: D1Database): Promise<AlertRow[]> =>
  runQuery(drizzle(db).select().from(alerts).orderBy(asc(alerts.name)));

export const findAlert = async (db: D1Database, name: string): Promise<AlertRow | null> =>
  (await listAlerts(db)).find((row) => row.name === name) ?? null;

export async function putAlert(db: D1Database, row: AlertRow): Promise<void> {
  await runQuery(drizzle(db).insert(alerts).values(row).onConflictDoUpdate({ target: alerts.name, set: row }));
}

/** Changes a rule that still has the state and receiver that were read. Returns false if it has not. */
export async function changeAlert(
  db: D1Database,
  { name, state, sealed }: AlertRow,
  changes: Partial<Pick<AlertRow, "state" | "sealed">>,
): Promise<boolean> {
  const unchanged = and(eq(alerts.name, name), eq(alerts.state, state), eq(alerts.sealed, sealed));
  return (await runQuery(drizzle(db).update(alerts).set(changes).where(unchanged).run())).meta.changes > 0;
}

export async function deleteAlert(db: D1Database, name: string): Promise<void> {
  await runQuery(drizzle(db).delete(alerts).where(eq(alerts.name, name)));
}

/** `since`: the end of the jobs, in ms since 1970. */
export type EndedFilter = {
  readonly since: number;
  readonly account?: string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
};

const MAX_FAILED = 1000;

const Failed = z.array(z.object({ id: z.string(), accountId: z.string(), key: z.string() }));

const Minutes = z.array(z.object({ minute: z.int(), count: z.int() }));

/**
 * `newest`: the failed jobs that ended last, the newest first, at most 1,000; their `key` differs after a retry.
 * `counts`: the number of all failed jobs, by the minute of their end since 1970.
 */
export type FailedJobs = {
  readonly newest: z.infer<typeof Failed>;
  readonly counts: Readonly<Record<string, number>>;
  /** True if there may be more failed jobs than `newest`. */
  readonly isCapped: boolean;
};

export async function findFailed(db: D1Database, filter: EndedFilter): Promise<FailedJobs> {
  const columns = sql`jobs.id AS id, jobs.account_id AS accountId, jobs.id || '@' || jobs.completed_at AS key`;
  const failed = endedJobs(["job.failed"], filter);
  const [found, counted] = await runBatch(db, [
    sql`SELECT ${columns} ${failed} ORDER BY jobs.completed_at DESC LIMIT ${MAX_FAILED}`,
    sql`SELECT jobs.completed_at / 60000 AS minute, count(*) AS count ${failed} GROUP BY minute`,
  ]);
  const newest = Failed.parse(found?.results);
  const counts = Minutes.parse(counted?.results).map(({ minute, count }) => [minute, count]);
  return { newest, counts: Object.fromEntries(counts), isCapped: newest.length === MAX_FAILED };
}

/** The number of jobs that ended, and of failed jobs among them. */
export async function countEnded(db: D1Database, filter: EndedFilter): Promise<{ ended: number; failed: number }> {
  const [found] = await runBatch(db, [
    sql`
      SELECT count(*) AS ended, count(*) FILTER (WHERE jobs.status = 'job.failed') AS failed
      ${endedJobs(["job.failed", "job.completed"], filter)}`,
  ]);
  return z.tuple([z.object({ ended: z.int(), failed: z.int() })]).parse(found?.results)[0];
}

/** Searches the index `jobs_by_end` of each account. */
export function endedJobs(statuses: readonly string[], { since, account, tags = {} }: EndedFilter): SQL {
  const tagged = Object.entries(tags).map(([name, value]) => sql` AND jobs.tags ->> ${name} = ${value}`);
  return sql`
    FROM ${accounts} CROSS JOIN ${jobs}
    WHERE jobs.account_id = accounts.id AND jobs.status IN ${statuses} AND jobs.completed_at > ${since}
      ${account === undefined ? sql`` : sql`AND accounts.id = ${account}`} ${sql.join(tagged)}`;
}
