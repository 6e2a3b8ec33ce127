// Usage of accounts per day. The row of an ended job holds the job's usage. The transaction that writes the row adds
// the difference from the usage that the row had before, so that a repeated or later write adds only new usage.
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { runBatch } from "../run-query.ts";
import { jobs, usageDays } from "../schema.ts";
import { dayOf } from "./usage-day.ts";

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

export const columnList = sql.raw(Object.values(COLUMNS).join(", "));

/** The row of an ended job before it is written. */
export type EndedRow = {
  readonly id: string;
  readonly accountId: string;
  readonly completedAt: number;
  readonly usage: string;
};

const difference = sql.raw(
  FIELDS.map(
    (field, at) => `coalesce(ended.usage ->> ${at}, 0) - coalesce(stored.usage ->> ${at}, 0) AS ${COLUMNS[field]}`,
  ).join(", "),
);

/**
 * The day of a job's end, and its usage beyond the usage of the row `stored`. No row if `stored` has all of it, or does
 * not meet the condition under which the row is written.
 */
export const newUsage = ({ id, accountId, completedAt, usage }: EndedRow, condition: SQL): SQL => sql`
  SELECT ${dayOf(completedAt)} AS day, ${accountId} AS account_id, ${difference}
  FROM (SELECT ${usage} AS usage) AS ended LEFT JOIN ${jobs} AS stored ON stored.id = ${id}
  WHERE (${condition}) AND ended.usage IS NOT stored.usage`;

/** Adds the columns of an inserted row to the columns of the row that exists. */
export const addUp = sql.raw(
  Object.values(COLUMNS)
    .map((column) => `${column} = ${column} + excluded.${column}`)
    .join(", "),
);

/** Adds the new usage of a job to the day of its end. Requires the write of the row next in the same transaction. */
export const addUsage = (row: EndedRow, condition: SQL): SQL => sql`
  INSERT INTO ${usageDays} (day, account_id, ${columnList}) ${newUsage(row, condition)}
  ON CONFLICT (day, account_id) DO UPDATE SET ${addUp}`;

/** The columns with the names of fields, each as an argument of a function if named. */
export const fieldList = (called = ""): SQL =>
  sql.raw(FIELDS.map((field) => `${called}(${COLUMNS[field]}) AS ${field}`).join(", "));

/** From one day to another day, both included. */
export type Period = { readonly from: number; readonly to: number };

/** The days of a period. A query searches each day separately, because the tables are in the order of days. */
export const daysOf = ({ from, to }: Period): SQL =>
  sql`(SELECT ${from} + value AS day FROM json_each(${JSON.stringify([...Array(to - from + 1).keys()])}))`;

export const usageQuery = (accountId: string, period: Period): SQL => sql`
  SELECT days.day AS day, ${fieldList()} FROM ${daysOf(period)} AS days CROSS JOIN ${usageDays} AS one
  ON one.day = days.day AND one.account_id = ${accountId} ORDER BY days.day`;

/** An account's usage per day, without days that have no usage. */
export async function usageByDay(db: D1Database, accountId: string, period: Period): Promise<DayUsage[]> {
  const [used] = await runBatch(db, [usageQuery(accountId, period)]);
  return DayUsages.parse(used?.results);
}

export const sumUsage = (all: readonly JobUsage[]): JobUsage =>
  all.reduce<JobUsage>(
    (sum, one) => Object.fromEntries(FIELDS.map((field) => [field, sum[field] + one[field]])) as JobUsage,
    NO_USAGE,
  );

/** The usage of all accounts since a day. */
export async function usageSince(db: D1Database, day: number): Promise<JobUsage> {
  const [found] = await runBatch(db, [
    sql`
      SELECT ${day} AS day, ${sql.raw(FIELDS.map((field) => `coalesce(sum(${COLUMNS[field]}), 0) AS ${field}`).join(", "))}
      FROM ${usageDays} WHERE day >= ${day}`,
  ]);
  return sumUsage(DayUsages.parse(found?.results));
}
