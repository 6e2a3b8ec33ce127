// Lists of an account's jobs. A page costs searches in one index and its own rows, however many jobs the account has. A
// page of a search for a text, or for a tag with other conditions, also reads a limited number of other jobs.
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { runBatch } from "../run-query.ts";
import { jobs } from "../schema.ts";
import { isIndexed, type JobFilter, matches, type Place, rarestFirst, searchesOf } from "./job-filter.ts";
import type { JobRow } from "./jobs.ts";
import { unpackView } from "./stored-view.ts";

/** Limits for the jobs' views on a page: as stored, and as clients receive them. A page has at least one job. */
const MAX_STORED_BYTES = 2_000_000;
const MAX_PAGE_CHARS = 8_000_000;
/**
 * A page of a text search reads the texts of this many jobs: some 40 ms on the local D1 (docs/benchmarks.md,
 * 2026-11-23).
 */
export const MAX_SEARCHED = 2000;

export type ListedJob = Place & Pick<JobRow, "status" | "version" | "view">;
export type Wanted = { readonly filter: JobFilter; readonly after: Place | null; readonly limit: number };
/** `next`: the place where the next page starts; null on the last page. */
type Page<Job> = { readonly jobs: Job[]; readonly next: Place | null };

const StoredPlace = z.object({ at: z.int(), id: z.string() });
/** `view` is null when the page is already full without it. */
const Found = z.object({ ...StoredPlace.shape, status: z.string(), version: z.int(), view: z.string().nullable() });

/**
 * An account's jobs after a place, in the order of the list: at most `limit`. There are fewer when they are large, or
 * when few match the filter.
 */
export async function listJobs(db: D1Database, accountId: string, asked: Wanted): Promise<Page<ListedJob>> {
  const wanted = await ordered(db, accountId, asked);
  const { rows, end } = await run(db, listQuery(accountId, wanted), endQuery(accountId, wanted));
  const jobs = z.array(Found).parse(rows);
  const page: ListedJob[] = [];
  let chars = 0;
  for (const { view: stored, ...job } of jobs.slice(0, wanted.limit)) {
    if (stored === null) break;
    const view = unpackView(stored);
    chars += view.length;
    if (page.length > 0 && chars > MAX_PAGE_CHARS) break;
    page.push({ ...job, view });
  }
  return { jobs: page, next: nextOf(jobs, page, end) };
}

/** The places of the same jobs, without their views. */
export async function listPlaces(db: D1Database, accountId: string, asked: Wanted): Promise<Page<Place>> {
  const wanted = await ordered(db, accountId, asked);
  const places = sql`
    WITH ${pageTables(accountId, wanted)} SELECT id, at FROM page ORDER BY at DESC, id DESC`;
  const { rows, end } = await run(db, places, endQuery(accountId, wanted));
  const stored = z.array(StoredPlace).parse(rows);
  const page = stored.slice(0, wanted.limit);
  return { jobs: page, next: nextOf(stored, page, end) };
}

const ordered = async (db: D1Database, accountId: string, wanted: Wanted): Promise<Wanted> => ({
  ...wanted,
  filter: await rarestFirst(db, accountId, wanted.filter, MAX_SEARCHED),
});

async function run(db: D1Database, page: SQL, end: SQL | null): Promise<{ rows: unknown; end: Place | null }> {
  const [found, ended] = await runBatch(db, end === null ? [page] : [page, end]);
  return { rows: found?.results, end: z.array(StoredPlace).parse(ended?.results ?? [])[0] ?? null };
}

/** The next page starts after the last job of this page, or after the last job that was read. */
function nextOf(found: readonly Place[], page: readonly Place[], end: Place | null): Place | null {
  const last = page.at(-1);
  if (found.length > page.length && last) return { at: last.at, id: last.id };
  return end;
}

/** Tables for a query. `page` has the places of a page, and the next place. */
function pageTables(accountId: string, { filter, after, limit }: Wanted): SQL {
  const searches = searchesOf(accountId, filter, after);
  if (isIndexed(filter)) return sql`page AS (${searches} LIMIT ${limit + 1})`;
  return sql`
    searched AS MATERIALIZED (${searches} LIMIT ${MAX_SEARCHED}),
    page AS (
      SELECT searched.id, searched.at FROM searched CROSS JOIN ${jobs} ON jobs.id = searched.id
      WHERE ${matches(accountId, filter)} ORDER BY searched.at DESC, searched.id DESC LIMIT ${limit + 1})`;
}

/** The rows of a page, and the next row. */
export const listQuery = (accountId: string, wanted: Wanted): SQL => sql`
  WITH ${pageTables(accountId, wanted)},
  rows AS (
    SELECT jobs.*, page.at, sum(octet_length(view)) OVER (ORDER BY page.at DESC, page.id DESC) - octet_length(view) AS size_before
    FROM page CROSS JOIN ${jobs} ON jobs.id = page.id)
  SELECT id, status, version, at, CASE WHEN size_before <= ${MAX_STORED_BYTES} THEN view END AS view
  FROM rows ORDER BY at DESC, id DESC`;

/**
 * The last job that a page reads, if more jobs may follow; null if the index finds exactly the jobs of the filter.
 */
function endQuery(accountId: string, { filter, after }: Wanted): SQL | null {
  if (isIndexed(filter)) return null;
  const last = sql`LIMIT 1 OFFSET ${MAX_SEARCHED - 1}`;
  return sql`SELECT id, at FROM (${searchesOf(accountId, filter, after)} ${last})`;
}
