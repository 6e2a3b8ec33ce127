// Usage of an account by the values of a tag, added up as in usage.ts. Jobs count for the tags that they have at their
// end.
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { runBatch } from "../run-query.ts";
import { usageTags } from "../schema.ts";
import { addUp, columnList, daysOf, type EndedRow, fieldList, JobUsage, newUsage, type Period } from "./usage.ts";

/** Limit of values of a name: those stored for a day, and those in a response. It bounds the rows that are read. */
export const MAX_VALUES = 1000;
/** Days for which the usage by tag is kept. */
const KEPT_DAYS = 400;
/** Rows that a sweep deletes, at most. */
const DELETED_ROWS = 5000;

const ValueUsage = JobUsage.extend({ value: z.string() });
export type ValueUsage = z.infer<typeof ValueUsage>;

/** Adds the new usage of a job to the day of its end, by its tags in JSON. Beside `addUsage`. */
export function addTagUsage(row: EndedRow, tags: string, condition: SQL): SQL {
  const ofName = sql`FROM ${usageTags} AS kept
    WHERE kept.day = added.day AND kept.account_id = added.account_id AND kept.name = tag.key`;
  return sql`
    INSERT INTO ${usageTags} (day, account_id, name, value, ${columnList})
    SELECT day, account_id, tag.key, tag.value, ${columnList}
    FROM (${newUsage(row, condition)}) AS added CROSS JOIN json_each(${tags}) AS tag
    WHERE EXISTS (SELECT 1 ${ofName} AND kept.value = tag.value) OR (SELECT count(*) ${ofName}) < ${MAX_VALUES}
    ON CONFLICT (day, account_id, name, value) DO UPDATE SET ${addUp}`;
}

export const tagUsageQuery = (accountId: string, name: string, period: Period): SQL => sql`
  SELECT one.value AS value, ${fieldList("sum")} FROM ${daysOf(period)} AS days CROSS JOIN ${usageTags} AS one
  ON one.day = days.day AND one.account_id = ${accountId} AND one.name = ${name}
  GROUP BY value ORDER BY value LIMIT ${MAX_VALUES}`;

/** An account's usage by the values of a tag, in the order of the values: the first 1,000. */
export async function usageByTag(
  db: D1Database,
  accountId: string,
  name: string,
  period: Period,
): Promise<ValueUsage[]> {
  const [used] = await runBatch(db, [tagUsageQuery(accountId, name, period)]);
  return z.array(ValueUsage).parse(used?.results);
}

/** Deletes usage by tag from before the last 400 days; a limited number of rows. */
export const deleteOldTagUsage = (db: D1Database, today: number): Promise<D1Result[]> =>
  runBatch(db, [
    sql`
      DELETE FROM ${usageTags} WHERE (day, account_id, name, value) IN (
        SELECT day, account_id, name, value FROM ${usageTags} WHERE day < ${today - KEPT_DAYS} LIMIT ${DELETED_ROWS})`,
  ]);
