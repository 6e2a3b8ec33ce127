// The audit. Each change has an entry, except the creation of a job, which would cost three more rows: its row has its
// creator.
import { and, desc, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { JOB_CREATED } from "#shared/api/audit.ts";
import { ANY_JOB, type Place, searchesOf } from "./job-filter.ts";
import { runBatch, runQuery } from "./run-query.ts";
import { apiKeys, audit, jobs } from "./schema.ts";

/** The sender of a request. `actor`: the id of the API key, or OPERATOR. `ip`: null for the service's own requests. */
export type Sender = { readonly actor: string; readonly ip: string | null };
export const OPERATOR = "operator";

export type AuditRow = typeof audit.$inferSelect;

/**
 * Entries of an account for each action. Per action, because a key that may only change jobs must not push out the
 * entries of other changes.
 */
const MAX_KEPT = 5000;

/** The API key with this id: a range of the primary key. */
const keyOf = (id: SQL | SQLiteColumn): SQL => sql`FROM ${apiKeys} WHERE digest >= ${id} AND digest < ${id} || 'g'`;

/** Stores an entry, and deletes the oldest of its kind. An entry of a key without an account gets the key's account. */
export async function insertEntry(db: D1Database, row: AuditRow): Promise<void> {
  const { id, createdAt, accountId, actor, ip, action, object, status } = row;
  const ofKey = sql`(SELECT account_id ${keyOf(sql`substr(${object}, 6)`)} AND ${object} LIKE 'keys/%')`;
  const account = accountId === "" ? sql`coalesce(${ofKey}, '')` : sql`${accountId}`;
  const kind = sql`account_id = ${accountId} AND action = ${action}`;
  await runBatch(db, [
    sql`
      INSERT INTO ${audit} (id, created_at, account_id, actor, ip, action, object, status)
      VALUES (${id}, ${createdAt}, ${account}, ${actor}, ${ip}, ${action}, ${object}, ${status})`,
    sql`
      DELETE FROM ${audit} WHERE ${kind} AND created_at < (
        SELECT created_at FROM ${audit} WHERE ${kind} ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_KEPT - 1})`,
  ]);
}

type Wanted = {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Such as `jobs/3clA7G2GY8bXR5`, or `jobs` for all of a kind. */
  readonly object?: string | undefined;
  readonly after: { readonly createdAt: number; readonly id: string } | null;
  readonly limit: number;
};
type Entry = AuditRow & { readonly actorName: string | null };

const nameOf = (actor: SQLiteColumn) => sql<string | null>`(SELECT nullif(name, '') ${keyOf(actor)})`;

/** Entries after a place, newest first. `accountId` null: of all accounts and of the service, without created jobs. */
export async function listEntries(db: D1Database, accountId: string | null, wanted: Wanted): Promise<Entry[]> {
  const { actor, action, object, after, limit } = wanted;
  if (action === JOB_CREATED) return createdJobs(db, accountId, wanted);
  const { createdAt, id } = audit;
  const conditions = [
    accountId === null ? undefined : eq(audit.accountId, accountId),
    actor === undefined ? undefined : eq(audit.actor, actor),
    action === undefined ? undefined : eq(audit.action, action),
    object === undefined ? undefined : sql`substr(object || '/', 1, ${object.length + 1}) = ${`${object}/`}`,
    after ? sql`(${createdAt}, ${id}) < (${after.createdAt}, ${after.id})` : undefined,
  ];
  const entries = drizzle(db)
    .select({ ...getTableColumns(audit), actorName: nameOf(audit.actor) })
    .from(audit)
    .where(and(...conditions))
    .orderBy(desc(createdAt), desc(id))
    .limit(limit);
  const found = await runQuery(entries);
  // The creation of a job is the oldest entry of the job.
  const isOfJob = action === undefined && object?.startsWith("jobs/") && found.length < limit;
  return isOfJob ? [...found, ...(await createdJobs(db, accountId, wanted))] : found;
}

/** The creations of an account's jobs, or of a single job. The caller filters by actor, so that a page stays cheap. */
function createdJobs(db: D1Database, accountId: string | null, { object, after, limit }: Wanted): Promise<Entry[]> {
  const place: Place | null = after && { at: after.createdAt, id: after.id };
  const ofAccount = accountId === null ? undefined : eq(jobs.accountId, accountId);
  const page = sql`${jobs.id} IN (SELECT id FROM (${searchesOf(accountId ?? "", ANY_JOB, place)} LIMIT ${limit}))`;
  const isOne = object?.startsWith("jobs/");
  const columns = {
    id: jobs.id,
    createdAt: jobs.createdAt,
    accountId: jobs.accountId,
    actor: sql<string>`coalesce(${jobs.createdBy}, ${OPERATOR})`,
    actorName: nameOf(jobs.createdBy),
    ip: jobs.createdFrom,
    action: sql<string>`${JOB_CREATED}`,
    object: sql<string>`'jobs/' || ${jobs.id}`,
    status: sql<number>`201`,
  };
  return runQuery(
    drizzle(db)
      .select(columns)
      .from(jobs)
      .where(and(ofAccount, isOne ? eq(jobs.id, object?.slice(5) ?? "") : page))
      .orderBy(desc(jobs.createdAt), desc(jobs.id)),
  );
}
