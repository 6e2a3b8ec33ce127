// Which of an account's jobs a request means: the searches in the index of jobs that find them.
import { type SQL, sql } from "drizzle-orm";
import { JOB_STATUSES, type JobStatus } from "#shared/job/job-status.ts";
import { jobs } from "./schema.ts";

/** A place in a list, newest first: that of a job. */
export type Place = { createdAt: number; id: string };

export type JobFilter = {
  /** None: any status. */
  readonly statuses: readonly JobStatus[];
  /** Lower-case text that the job's search text contains; null: any. */
  readonly text: string | null;
  /** Ms since 1970: created at this time or later, and before that time; null: any time. */
  readonly from: number | null;
  readonly before: number | null;
};

/** All jobs of an account. */
export const ANY_JOB: JobFilter = { statuses: [], text: null, from: null, before: null };

/** The statuses of a filter. */
export const statusesOf = ({ statuses }: JobFilter): readonly JobStatus[] =>
  statuses.length === 0 ? JOB_STATUSES : statuses;

/** The later of two bounds of the index; a list never starts before what it continues. */
function startOf({ before }: JobFilter, after: Place | null): SQL {
  if (after && (before === null || after.createdAt < before)) {
    // The tuple and not `a < ? OR (a = ? AND b < ?)`: only that is a search to the place, and not through all that is
    // newer (SQLite, "Row Values").
    return sql` AND (created_at, id) < (${after.createdAt}, ${after.id})`;
  }
  return before === null ? sql`` : sql` AND created_at < ${before}`;
}

/**
 * The ids and times of an account's jobs of one status after a place, in the order of the index, whatever the text of
 * the filter.
 */
export function searchOf(accountId: string, status: JobStatus, filter: JobFilter, after: Place | null): SQL {
  const end = filter.from === null ? sql`` : sql` AND created_at >= ${filter.from}`;
  const within = sql`account_id = ${accountId} AND status = ${status}${startOf(filter, after)}${end}`;
  return sql`SELECT id, created_at FROM ${jobs} WHERE ${within}`;
}

/** The same for all statuses of the filter, newest first: one search for each, merged. */
export function searchesOf(accountId: string, filter: JobFilter, after: Place | null): SQL {
  const searches = statusesOf(filter).map((status) => searchOf(accountId, status, filter, after));
  return sql`${sql.join(searches, sql` UNION ALL `)} ORDER BY created_at DESC, id DESC`;
}

/** True if a job's search text contains the text of the filter. `instr` has no wildcards, unlike `LIKE`. */
export const hasText = (text: string): SQL => sql`instr(jobs.search, ${text}) > 0`;
