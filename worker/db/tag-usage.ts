// Usage of an account by the values of a tag. The sweeper adds the usage of jobs with tags to days, as in usage.ts.
// Jobs count for the tags that they have then.
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { runBatch } from "./run-query.ts";
import { usageTags } from "./schema.ts";
import {
  addUp,
  columnList,
  dayList,
  fieldList,
  isUncounted,
  JobUsage,
  newSums,
  type Period,
  sumUsage,
  uncountedJobs,
} from "./usage.ts";
import { DAY_MS } from "./usage-day.ts";

/** Limit of values of a name: those stored for a day, and those in a response. It bounds the rows that are read. */
export const MAX_VALUES = 1000;
/** Days for which the usage by tag is kept. */
const KEPT_DAYS = 400;
/** Rows that a sweep deletes, at most. */
const DELETED_ROWS = 5000;

const ValueUsage = JobUsage.extend({ value: z.string() });
export type ValueUsage = z.infer<typeof ValueUsage>;

const dayMs = sql.raw(String(DAY_MS));

/**
 * Adds the usage of these jobs to the days of their ends, by tag. In the transaction of `addUsage`, before
 * `countedUsage`.
 */
export const addTagUsage = (ids: readonly string[]): SQL => sql`
  WITH fresh AS MATERIALIZED (
    SELECT completed_at / ${dayMs} AS day, account_id, tag.key AS name, tag.value AS value, ${newSums}
    FROM jobs CROSS JOIN json_each(jobs.tags) AS tag
    WHERE jobs.id IN (SELECT value FROM json_each(${JSON.stringify(ids)})) AND ${isUncounted}
    GROUP BY 1, 2, 3, 4),
  sizes AS MATERIALIZED (
    SELECT day, account_id, name, (
      SELECT count(*) FROM ${usageTags} AS kept
      WHERE kept.day = one.day AND kept.account_id = one.account_id AND kept.name = one.name) AS size
    FROM (SELECT DISTINCT day, account_id, name FROM fresh) AS one)
  INSERT INTO ${usageTags} (day, account_id, name, value, ${columnList})
  SELECT day, account_id, name, value, ${columnList} FROM (
    SELECT fresh.*, size, kept.day IS NOT NULL AS known, row_number() OVER (
      PARTITION BY fresh.day, fresh.account_id, fresh.name, kept.day IS NULL ORDER BY fresh.value) AS nth
    FROM fresh JOIN sizes USING (day, account_id, name) LEFT JOIN ${usageTags} AS kept
    ON kept.day = fresh.day AND kept.account_id = fresh.account_id AND kept.name = fresh.name
      AND kept.value = fresh.value)
  WHERE known OR nth + size <= ${MAX_VALUES}
  ON CONFLICT (day, account_id, name, value) DO UPDATE SET ${addUp}`;

/**
 * Statements for the usage in a period by the values of a tag: usage already added to days, and usage not added yet.
 */
export function tagUsageQueries(accountId: string, name: string, period: Period): [SQL, SQL] {
  const { from, to } = period;
  const first = sql`GROUP BY value ORDER BY value LIMIT ${MAX_VALUES}`;
  return [
    sql`
      SELECT one.value AS value, ${fieldList("sum")}
      FROM (SELECT ${from} + value AS day FROM json_each(${dayList(to - from + 1)})) AS days CROSS JOIN ${usageTags} AS one
      ON one.day = days.day AND one.account_id = ${accountId} AND one.name = ${name} ${first}`,
    sql`
      SELECT value, ${fieldList()} FROM (
        SELECT tag.value AS value, ${newSums}
        FROM (${uncountedJobs(accountId, period)}) AS ended CROSS JOIN json_each(ended.tags) AS tag
        WHERE tag.key = ${name} AND ${isUncounted}
          AND completed_at >= ${from * DAY_MS} AND completed_at < ${(to + 1) * DAY_MS}
        ${first})`,
  ];
}

/** An account's usage by the values of a tag, in the order of the values: the first 1,000. */
export async function usageByTag(
  db: D1Database,
  accountId: string,
  name: string,
  period: Period,
): Promise<ValueUsage[]> {
  const results = await runBatch(db, tagUsageQueries(accountId, name, period));
  const rows = results.flatMap(({ results }) => z.array(ValueUsage).parse(results));
  const byValue = [...Map.groupBy(rows, ({ value }) => value)];
  const sums = byValue.map(([value, same]) => ({ value, ...sumUsage(same) }));
  return sums.toSorted((one, other) => (one.value < other.value ? -1 : 1)).slice(0, MAX_VALUES);
}

/** Deletes usage by tag from before the last 400 days; a limited number of rows. */
export const deleteOldTagUsage = (db: D1Database, today: number): Promise<D1Result[]> =>
  runBatch(db, [
    sql`
      DELETE FROM ${usageTags} WHERE (day, account_id, name, value) IN (
        SELECT day, account_id, name, value FROM ${usageTags} WHERE day < ${today - KEPT_DAYS} LIMIT ${DELETED_ROWS})`,
  ]);
