// Filters of an account's jobs, as searches in the index of jobs.
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import type { JobSort } from "#shared/api/job-filter.ts";
import { JOB_STATUSES, type JobStatus } from "#shared/job/job-status.ts";
import { runBatch } from "../run-query.ts";
import { jobs, jobTags } from "../schema.ts";

/** The orders of lists, and their columns: the newest or longest first. Each has an index. */
const SORTED_BY = {
  created: sql.raw("created_at"),
  ended: sql.raw("completed_at"),
  took: sql.raw("took_ms"),
} satisfies {
  [Sort in JobSort]: SQL;
};

/** The position of a job in a list: the value of the order's column, and the id. */
export type Place = { at: number; id: string };

export type JobFilter = {
  /** Empty: any status. */
  readonly statuses: readonly JobStatus[];
  /** The job's search text must contain this lower-case text; null: any text. */
  readonly text: string | null;
  /** Ms since 1970: created at `from` or later, and before `before`; null: any time. */
  readonly from: number | null;
  readonly before: number | null;
  /** The job has all of these tags: up to three, and the search follows the first. */
  readonly tags: readonly TagPair[];
  readonly sort: JobSort;
};
export type TagPair = readonly [name: string, value: string];

/** All jobs of an account. */
export const ANY_JOB: JobFilter = { statuses: [], text: null, from: null, before: null, tags: [], sort: "created" };

/** The statuses of a filter. */
export const statusesOf = ({ statuses }: JobFilter): readonly JobStatus[] =>
  statuses.length === 0 ? JOB_STATUSES : statuses;

/** The start of the search: the filter's `before`, or the place after which the list continues, whichever is older. */
function startOf({ before }: JobFilter, after: Place | null): SQL {
  if (after && (before === null || after.at < before)) {
    // The tuple searches to the place in the index. `a < ? OR (a = ? AND b < ?)` would read all newer entries (SQLite,
    // "Row Values").
    return sql` AND (created_at, id) < (${after.at}, ${after.id})`;
  }
  return before === null ? sql`` : sql` AND created_at < ${before}`;
}

/**
 * The places of an account's jobs of one status after a place, in the order of the index. Ignores the text of the
 * filter, and its time in another order than that of creation.
 */
export function searchOf(accountId: string, status: JobStatus, filter: JobFilter, after: Place | null): SQL {
  const of = sql`account_id = ${accountId} AND status = ${status}`;
  if (filter.sort !== "created") {
    const column = SORTED_BY[filter.sort];
    const next = after ? sql` AND (${column}, id) < (${after.at}, ${after.id})` : sql``;
    return sql`SELECT id, ${column} AS at FROM ${jobs} WHERE ${of} AND ${column} IS NOT NULL${next}`;
  }
  const end = filter.from === null ? sql`` : sql` AND created_at >= ${filter.from}`;
  return sql`SELECT id, created_at AS at FROM ${jobs} WHERE ${of}${startOf(filter, after)}${end}`;
}

/** The same for jobs of any status with a tag. */
function searchOfTag(accountId: string, tag: TagPair, filter: JobFilter, after: Place | null): SQL {
  const end = filter.from === null ? sql`` : sql` AND created_at >= ${filter.from}`;
  return sql`SELECT id, created_at AS at FROM ${jobTags} WHERE ${hasTag(accountId, tag)}${startOf(filter, after)}${end}`;
}

const hasTag = (accountId: string, [name, value]: TagPair): SQL =>
  sql`account_id = ${accountId} AND name = ${name} AND value = ${value}`;

/**
 * The jobs that a list reads, in its order: of the filter's first tag, or of all its statuses. If the filter has more
 * conditions, not all of these jobs match it (`matches`).
 */
export function searchesOf(accountId: string, filter: JobFilter, after: Place | null): SQL {
  const [tag] = filter.tags;
  if (tag && filter.sort === "created")
    return sql`${searchOfTag(accountId, tag, filter, after)} ORDER BY at DESC, id DESC`;
  const searches = statusesOf(filter).map((status) => searchOf(accountId, status, filter, after));
  return sql`${sql.join(searches, sql` UNION ALL `)} ORDER BY at DESC, id DESC`;
}

/** True if all jobs of the searches match the filter. */
export const isIndexed = ({ text, tags, statuses, from, before, sort }: JobFilter): boolean => {
  if (sort !== "created") return text === null && tags.length === 0 && from === null && before === null;
  return text === null && (tags.length === 0 || (tags.length === 1 && statuses.length === 0));
};

/** A condition on the jobs of the searches. */
export function matches(accountId: string, { text, tags, statuses, from, before, sort }: JobFilter): SQL {
  const isByTime = sort === "created";
  const conditions = [
    // `instr` has no wildcards, unlike `LIKE`.
    ...(text === null ? [] : [sql`instr(jobs.search, ${text}) > 0`]),
    ...(tags.length === 0 || statuses.length === 0
      ? []
      : [sql`jobs.status IN (SELECT value FROM json_each(${JSON.stringify(statuses)}))`]),
    ...(isByTime || from === null ? [] : [sql`jobs.created_at >= ${from}`]),
    ...(isByTime || before === null ? [] : [sql`jobs.created_at < ${before}`]),
    // The search follows the first tag.
    ...tags.slice(isByTime ? 1 : 0).map(
      (tag) => sql`
        EXISTS (SELECT 1 FROM ${jobTags} AS other WHERE ${hasTag(accountId, tag)}
          AND other.created_at = jobs.created_at AND other.id = jobs.id)`,
    ),
  ];
  return conditions.length === 0 ? sql`TRUE` : sql.join(conditions, sql` AND `);
}

/**
 * The filter with its rarest tag first, so that a list finds the jobs in few pages. Tags above `most` jobs count alike.
 */
export async function rarestFirst(
  db: D1Database,
  accountId: string,
  filter: JobFilter,
  most: number,
): Promise<JobFilter> {
  if (filter.tags.length < 2 || filter.sort !== "created") return filter;
  const results = await runBatch(
    db,
    filter.tags.map(
      (tag) => sql`SELECT count(*) AS jobs FROM (${searchOfTag(accountId, tag, filter, null)} LIMIT ${most})`,
    ),
  );
  const counts = results.map(({ results }) => Counted.parse(results)[0].jobs);
  const order = filter.tags
    .map((tag, at) => ({ tag, jobs: counts[at] ?? 0 }))
    .toSorted((one, two) => one.jobs - two.jobs);
  return { ...filter, tags: order.map(({ tag }) => tag) };
}

const Counted = z.tuple([z.object({ jobs: z.int() })]);
