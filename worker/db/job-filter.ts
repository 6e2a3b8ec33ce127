// Filters of an account's jobs, as searches in the index of jobs.
import { type SQL, sql } from "drizzle-orm";
import { JOB_STATUSES, type JobStatus } from "#shared/job/job-status.ts";
import { jobs } from "./schema.ts";

/** The position of a job in a list, newest first. */
export type Place = { createdAt: number; id: string };

export type JobFilter = {
  /** Empty: any status. */
  readonly statuses: readonly JobStatus[];
  /** The job's search text must contain this lower-case text; null: any text. */
  readonly text: string | null;
  /** Ms since 1970: created at `from` or later, and before `before`; null: any time. */
  readonly from: number | null;
  readonly before: number | null;
};

/** All jobs of an account. */
export const ANY_JOB: JobFilter = { statuses: [], text: null, from: null, before: null };

/** The statuses of a filter. */
export const statusesOf = ({ statuses }: JobFilter): readonly JobStatus[] =>
  statuses.length === 0 ? JOB_STATUSES : statuses;

/** The start of the search: the filter's `before`, or the place after which the list continues, whichever is older. */
function startOf({ before }: JobFilter, after: Place | null): SQL {
  if (after && (before === null || after.createdAt < before)) {
    // The tuple searches to the place in the index. `a < ? OR (a = ? AND b < ?)` would read all newer entries (SQLite,
    // "Row Values").
    return sql` AND (created_at, id) < (${after.createdAt}, ${after.id})`;
  }
  return before === null ? sql`` : sql` AND created_at < ${before}`;
}

/**
 * The ids and times of an account's jobs of one status after a place, in the order of the index. Ignores the text of
 * the filter.
 */
export function searchOf(accountId: string, status: JobStatus, filter: JobFilter, after: Place | null): SQL {
  const end = filter.from === null ? sql`` : sql` AND created_at >= ${filter.from}`;
  const within = sql`account_id = ${accountId} AND status = ${status}${startOf(filter, after)}${end}`;
  return sql`SELECT id, created_at FROM ${jobs} WHERE ${within}`;
}

/** Merges the searches of all statuses of the filter, newest first. */
export function searchesOf(accountId: string, filter: JobFilter, after: Place | null): SQL {
  const searches = statusesOf(filter).map((status) => searchOf(accountId, status, filter, after));
  return sql`${sql.join(searches, sql` UNION ALL `)} ORDER BY created_at DESC, id DESC`;
}

/** True if a job's search text contains the text of the filter. `instr` has no wildcards, unlike `LIKE`. */
export const hasText = (text: string): SQL => sql`instr(jobs.search, ${text}) > 0`;
