// Counts an account's jobs by status. The number of entries read is limited.
import { sql } from "drizzle-orm";
import * as z from "zod";
import { JOB_STATUSES, type JobStatus } from "#shared/job/job-status.ts";
import { runBatch } from "../run-query.ts";
import { jobs } from "../schema.ts";
import { type JobFilter, matches, rarestFirst, searchesOf, searchOf, statusesOf } from "./job-filter.ts";
import { MAX_SEARCHED } from "./job-list.ts";

/** Counted jobs per status, at most. */
export const MAX_COUNTED = 10_000;

const Counted = z.tuple([z.object({ read: z.int(), found: z.int() })]);

export type JobCounts = {
  readonly counts: Partial<Record<JobStatus, number>>;
  /** True if there are more jobs than were counted. */
  readonly isCapped: boolean;
};

/**
 * Counts the newest jobs of each status: up to 10,000. With a text, only the newest 2,000 jobs of each status are
 * searched.
 */
export async function countJobs(db: D1Database, accountId: string, filter: JobFilter): Promise<JobCounts> {
  if (filter.tags.length > 0) return countTagged(db, accountId, filter);
  const statuses = statusesOf(filter);
  const most = filter.text === null ? MAX_COUNTED : MAX_SEARCHED;
  const results = await runBatch(
    db,
    statuses.map((status) => {
      const newest = sql`${searchOf(accountId, status, filter, null)} ORDER BY at DESC, id DESC LIMIT ${most + 1}`;
      if (filter.text === null) return sql`SELECT count(*) AS read, count(*) AS found FROM (${newest})`;
      return sql`
        SELECT count(*) AS read, coalesce(sum(${matches(accountId, filter)}), 0) AS found
        FROM (${newest}) AS newest CROSS JOIN ${jobs} ON jobs.id = newest.id`;
    }),
  );
  const counted = results.map(({ results }) => Counted.parse(results)[0]);
  const entries = statuses.map((status, at) => [status, Math.min(counted[at]?.found ?? 0, most)] as const);
  return { counts: Object.fromEntries(entries), isCapped: counted.some(({ read }) => read > most) };
}

const Tagged = z.array(z.object({ status: z.enum(JOB_STATUSES), found: z.int() }));
const Read = z.tuple([z.object({ read: z.int() })]);

/** Counts the newest jobs with a tag, of all statuses together: up to 10,000, and 2,000 with a text. */
async function countTagged(db: D1Database, accountId: string, asked: JobFilter): Promise<JobCounts> {
  const most = asked.text === null ? MAX_COUNTED : MAX_SEARCHED;
  const filter = await rarestFirst(db, accountId, asked, most);
  const newest = sql`${searchesOf(accountId, filter, null)} LIMIT ${most}`;
  const [found, read] = await runBatch(db, [
    sql`
      SELECT status, count(*) AS found FROM (${newest}) AS newest CROSS JOIN ${jobs} ON jobs.id = newest.id
      WHERE ${matches(accountId, filter)} GROUP BY status`,
    sql`SELECT count(*) AS read FROM (${searchesOf(accountId, filter, null)} LIMIT ${most + 1})`,
  ]);
  const counts = new Map(Tagged.parse(found?.results).map(({ status, found }) => [status, found]));
  return {
    counts: Object.fromEntries(statusesOf(filter).map((status) => [status, counts.get(status) ?? 0])),
    isCapped: Read.parse(read?.results)[0].read > most,
  };
}
