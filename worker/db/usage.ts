// Usage of accounts per day. The row of an ended job carries the job's usage. The sweeper adds it to the day of the
// job's end. It does so in the transaction that schedules the job's next check, so that no extra write to the job's row
// is needed. The row then holds the added usage, so that a repeated or later write adds only new usage.
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { isTerminalJob, JOB_STATUSES } from "#shared/job/job-status.ts";
import { runBatch } from "./run-query.ts";
import { jobs, usageDays } from "./schema.ts";
import { DAY_MS } from "./usage-day.ts";

/** Usage of jobs. The usage of a job covers all its rounds, from its creation to its latest end. */
export const JobUsage = z.object({
  /** Number of ends with this status. */
  completed: z.number(),
  failed: z.number(),
  aborted: z.number(),
  /** The length of the outputs. */
  audioMs: z.number(),
  sdMs: z.number(),
  hdMs: z.number(),
  uhdMs: z.number(),
  /** The time of all leases. */
  nodeMs: z.number(),
  storedBytes: z.number(),
  /** Time from the creation or restart to the end. */
  lastedMs: z.number(),
});
export type JobUsage = z.infer<typeof JobUsage>;

/** The usage of a day, counted in days since 1970. */
const DayUsage = JobUsage.extend({ day: z.int() });
export type DayUsage = z.infer<typeof DayUsage>;
const DayUsages = z.array(DayUsage);

/** The columns of a day, in the order of the array that a job's row holds. Append only. */
const COLUMNS = {
  completed: "completed",
  failed: "failed",
  aborted: "aborted",
  audioMs: "audio_ms",
  sdMs: "sd_ms",
  hdMs: "hd_ms",
  uhdMs: "uhd_ms",
  nodeMs: "node_ms",
  storedBytes: "stored_bytes",
  lastedMs: "lasted_ms",
} as const satisfies Record<keyof JobUsage, string>;
const FIELDS = Object.keys(COLUMNS) as (keyof JobUsage)[];

const NO_USAGE: JobUsage = {
  completed: 0,
  failed: 0,
  aborted: 0,
  audioMs: 0,
  sdMs: 0,
  hdMs: 0,
  uhdMs: 0,
  nodeMs: 0,
  storedBytes: 0,
  lastedMs: 0,
};

/** Returns the text that the row of a job holds. */
export const usageText = (usage: JobUsage): string => JSON.stringify(FIELDS.map((field) => usage[field]));

/** The usage of a job that was lost except for its row: it has failed. */
export const LOST_USAGE = usageText({ ...NO_USAGE, failed: 1 });

/** True for a job with usage that was not added yet. */
export const isUncounted = sql.raw("completed_at IS NOT NULL AND usage IS NOT NULL AND usage IS NOT usage_counted");
export const columnList = sql.raw(Object.values(COLUMNS).join(", "));
/** Sums of the usage that was not added yet. */
export const newSums = sql.raw(
  FIELDS.map(
    (field, at) => `sum(coalesce(usage ->> ${at}, 0) - coalesce(usage_counted ->> ${at}, 0)) AS ${COLUMNS[field]}`,
  ).join(", "),
);

/** Adds the columns of an inserted row to the columns of the row that exists. */
export const addUp = sql.raw(
  Object.values(COLUMNS)
    .map((column) => `${column} = ${column} + excluded.${column}`)
    .join(", "),
);

/** Adds the usage of these jobs to the days of their ends. Requires `countedUsage` in the same transaction. */
export const addUsage = (ids: readonly string[]): SQL => sql`
  INSERT INTO ${usageDays} (day, account_id, ${columnList})
  SELECT completed_at / ${sql.raw(String(DAY_MS))}, account_id, ${newSums} FROM ${jobs}
  WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND ${isUncounted}
  GROUP BY 1, 2
  ON CONFLICT (day, account_id) DO UPDATE SET ${addUp}`;

/** The new value of `usage_counted` for a job whose usage was added. */
export const countedUsage = sql.raw("CASE WHEN completed_at IS NULL THEN usage_counted ELSE usage END");

/**
 * Jobs created within this time are searched for usage that the sweeper has not added yet. The sweeper adds it within
 * about an hour of a job's end.
 */
const UNCOUNTED_MS = 8 * DAY_MS;
/** Limit of jobs of each status that are read for it, the newest jobs. */
const MAX_UNCOUNTED = 5000;

/** The columns with the names of fields, each as an argument of a function if named. */
export const fieldList = (called = ""): SQL =>
  sql.raw(FIELDS.map((field) => `${called}(${COLUMNS[field]}) AS ${field}`).join(", "));

/** From one day to another day, both included. */
export type Period = { readonly from: number; readonly to: number; readonly now: number };

/** Statements for an account's usage in a period: the usage already added to days, and the usage not added yet. */
export function usageQueries(accountId: string, period: Period): [SQL, SQL] {
  const { from, to } = period;
  const days = sql`(SELECT ${from} + value AS day FROM json_each(${dayList(to - from + 1)}))`;
  return [
    sql`
      SELECT days.day AS day, ${fieldList()} FROM ${days} AS days CROSS JOIN ${usageDays} AS one
      ON one.day = days.day AND one.account_id = ${accountId}`,
    sql`
      SELECT day, ${fieldList()} FROM (
        SELECT completed_at / ${sql.raw(String(DAY_MS))} AS day, ${newSums}
        FROM (${uncountedJobs(accountId, period)})
        WHERE ${isUncounted} AND completed_at >= ${from * DAY_MS} AND completed_at < ${(to + 1) * DAY_MS}
        GROUP BY 1)`,
  ];
}

/** The newest ended jobs of an account, whose usage may not have been added yet. */
export function uncountedJobs(accountId: string, { now }: Period): SQL {
  const ended = JOB_STATUSES.filter(isTerminalJob).map(
    (status) => sql`
      SELECT * FROM (
        SELECT completed_at, usage, usage_counted, tags FROM ${jobs}
        WHERE account_id = ${accountId} AND status = ${status} AND created_at >= ${now - UNCOUNTED_MS}
        ORDER BY created_at DESC LIMIT ${MAX_UNCOUNTED})`,
  );
  return sql.join(ended, sql` UNION ALL `);
}

/** An account's usage per day, without days that have no usage. */
export async function usageByDay(db: D1Database, accountId: string, period: Period): Promise<DayUsage[]> {
  const [counted, uncounted] = await runBatch(db, usageQueries(accountId, period));
  return sumByDay([...DayUsages.parse(counted?.results), ...DayUsages.parse(uncounted?.results)]);
}

/** The numbers 0 to `count` − 1. The query searches each day separately, because the table is in the order of days. */
export const dayList = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, at) => at));

function sumByDay(rows: readonly DayUsage[]): DayUsage[] {
  const byDay = Map.groupBy(rows, ({ day }) => day);
  return [...byDay].map(([day, same]) => ({ day, ...sumUsage(same) })).toSorted((one, other) => one.day - other.day);
}

export const sumUsage = (all: readonly JobUsage[]): JobUsage =>
  all.reduce<JobUsage>(
    (sum, one) => Object.fromEntries(FIELDS.map((field) => [field, sum[field] + one[field]])) as JobUsage,
    NO_USAGE,
  );

/** The usage of all accounts since a day, without usage that was not added yet. */
export async function usageSince(db: D1Database, day: number): Promise<JobUsage> {
  const [found] = await runBatch(db, [
    sql`
      SELECT ${day} AS day, ${sql.raw(FIELDS.map((field) => `coalesce(sum(${COLUMNS[field]}), 0) AS ${field}`).join(", "))}
      FROM ${usageDays} WHERE day >= ${day}`,
  ]);
  return sumUsage(DayUsages.parse(found?.results));
}
