// Lists of an account's jobs. A page costs searches in one index and its own rows, however many jobs the account has.
import { type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { JOB_STATUSES } from "#shared/job/job-status.ts";
import type { JobRow } from "./jobs.ts";
import { runQuery } from "./run-query.ts";
import { jobs } from "./schema.ts";
import { unpackView } from "./stored-view.ts";

/** How much of the jobs' views one page contains: as stored, and as clients get them. A page has at least one job. */
const MAX_STORED_BYTES = 2_000_000;
const MAX_PAGE_CHARS = 8_000_000;

/** The end of a page of a list: its last job. */
export type Place = { createdAt: number; id: string };
export type ListedJob = Pick<JobRow, "id" | "status" | "version" | "createdAt" | "view">;
export type Listed = { status: string | null; after: Place | null; limit: number };

/**
 * An account's jobs after a place, newest first, of one status or of any: at most `limit`, fewer when they are large.
 * `hasMore`: the next page is not empty.
 */
export async function listJobs(
  db: D1Database,
  accountId: string,
  wanted: Listed,
): Promise<{ jobs: ListedJob[]; hasMore: boolean }> {
  const found = await runQuery(drizzle(db).all<Found>(listQuery(accountId, wanted)));
  const page: ListedJob[] = [];
  let chars = 0;
  for (const { view: stored, ...job } of found.slice(0, wanted.limit)) {
    if (stored === null) break;
    const view = unpackView(stored);
    chars += view.length;
    if (page.length > 0 && chars > MAX_PAGE_CHARS) break;
    page.push({ ...job, view });
  }
  return { jobs: page, hasMore: found.length > page.length };
}

/** Null: the page is full without this view. */
type Found = Omit<ListedJob, "view"> & { view: string | null };

/**
 * The rows of a page and one more. A list of any status merges one search for each. The tuple and not `a < ? OR (a = ?
 * AND b < ?)`: only that is a search to the place, and not through all that is newer (SQLite, "Row Values").
 */
export function listQuery(accountId: string, { status, after, limit }: Listed): SQL {
  const older = after ? sql`AND (created_at, id) < (${after.createdAt}, ${after.id})` : sql``;
  const searches = (status === null ? JOB_STATUSES : [status]).map(
    (one) => sql`SELECT id, created_at FROM ${jobs} WHERE account_id = ${accountId} AND status = ${one} ${older}`,
  );
  return sql`
    WITH page AS (${sql.join(searches, sql` UNION ALL `)} ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}),
    rows AS (
      SELECT jobs.*, sum(octet_length(view)) OVER (ORDER BY jobs.created_at DESC, jobs.id DESC) - octet_length(view) AS size_before
      FROM page CROSS JOIN ${jobs} ON jobs.id = page.id)
    SELECT id, status, version, created_at AS createdAt, CASE WHEN size_before <= ${MAX_STORED_BYTES} THEN view END AS view
    FROM rows ORDER BY created_at DESC, id DESC`;
}
